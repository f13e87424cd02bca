using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using Windows.Data.Xml.Dom;

namespace Windows.UI.Notifications
{
    public enum NotificationMirroring
    {
        Allowed, Disabled,
    }

    public enum ToastNotificationPriority
    {
        Default, High,
    }

    public sealed class ToastNotification
    {
        private string tag = "";
        private string group = "";

        public ToastNotification(XmlDocument content)
        {
            Content = content;
        }

        public XmlDocument Content { get; }

        public string Tag
        {
            get => tag;
            set => tag = Checked(value);
        }

        public string Group
        {
            get => group;
            set => group = Checked(value);
        }

        public bool SuppressPopup { get; set; }

        public ToastNotificationPriority Priority { get; set; }

        public DateTimeOffset? ExpirationTime { get; set; }

        public NotificationMirroring NotificationMirroring { get; set; }

        /// <summary>Since Windows 10 1703 a tag and a group have at most 64 characters.</summary>
        private static string Checked(string value) =>
            value.Length <= 64 ? value : throw new ArgumentException("The tag is too long.");
    }

    public sealed class ToastNotifier
    {
        /// <summary>Larger notifications are refused, in bytes.</summary>
        private const int MaxBytes = 5 << 10;

        /// <summary>As on Windows, the same tag and group replace.</summary>
        public void Show(ToastNotification notification)
        {
            ToastNotificationManager.Gate.Wait();
            var length = Encoding.UTF8.GetByteCount(notification.Content.GetXml());
            if (length > MaxBytes || ToastNotificationManager.Refuses)
            {
                throw new System.Runtime.InteropServices.COMException("Refused", unchecked((int)0x803E0115));
            }

            lock (ToastNotificationManager.Toasts)
            {
                ToastNotificationManager.History.Remove(notification.Tag, notification.Group);
                ToastNotificationManager.Toasts.Add(notification);
            }
        }
    }

    public sealed class ToastNotificationHistory
    {
        public IReadOnlyList<ToastNotification> GetHistory()
        {
            ToastNotificationManager.Gate.Wait();
            lock (ToastNotificationManager.Toasts)
            {
                return ToastNotificationManager.Toasts.ToList();
            }
        }

        public void RemoveGroup(string group)
        {
            ToastNotificationManager.Gate.Wait();
            lock (ToastNotificationManager.Toasts)
            {
                ToastNotificationManager.Toasts.RemoveAll(toast => toast.Group == group);
            }
        }

        public void Remove(string tag, string group)
        {
            ToastNotificationManager.Gate.Wait();
            lock (ToastNotificationManager.Toasts)
            {
                ToastNotificationManager.Toasts.RemoveAll(toast => toast.Tag == tag && toast.Group == group);
            }
        }
    }

    public static class ToastNotificationManager
    {
        public static ToastNotificationHistory History { get; } = new ToastNotificationHistory();

        /// <summary>What the action centre shows.</summary>
        public static List<ToastNotification> Toasts { get; } = new List<ToastNotification>();

        public static bool Refuses { get; set; }

        /// <summary>While it is closed, Windows does not answer.</summary>
        public static ManualResetEventSlim Gate { get; } = new ManualResetEventSlim(true);

        public static ToastNotifier CreateToastNotifier() => new ToastNotifier();
    }

    public sealed class BadgeNotification
    {
        public BadgeNotification(XmlDocument content)
        {
            Content = content;
        }

        public XmlDocument Content { get; }
    }

    public sealed class BadgeUpdater
    {
        public void Update(BadgeNotification notification) =>
            BadgeUpdateManager.Badge = notification.Content.DocumentElement.GetAttribute("value");

        public void Clear() => BadgeUpdateManager.Badge = null;
    }

    public static class BadgeUpdateManager
    {
        /// <summary>The badge that the user sees.</summary>
        public static string Badge { get; set; }

        public static BadgeUpdater CreateBadgeUpdaterForApplication()
        {
            ToastNotificationManager.Gate.Wait();
            return new BadgeUpdater();
        }
    }
}
