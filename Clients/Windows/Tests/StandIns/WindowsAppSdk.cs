// Stand-ins for the classes of the Windows App SDK that SecurePush.Client.WindowsApp uses: only the members that it
// needs, with the signatures of Microsoft.Windows.AppNotifications and Microsoft.Windows.PushNotifications.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Windows.ApplicationModel.Background;
using Windows.Foundation;

namespace Microsoft.Windows.AppNotifications
{
    public enum AppNotificationPriority
    {
        Default, High,
    }

    public sealed class AppNotification
    {
        /// <summary>As on Windows, a text that is not well-formed throws.</summary>
        public AppNotification(string payload)
        {
            new global::Windows.Data.Xml.Dom.XmlDocument().LoadXml(payload);
            Payload = payload;
        }

        public string Tag { get; set; } = "";

        public string Group { get; set; } = "";

        public string Payload { get; }

        public DateTimeOffset Expiration { get; set; }

        public bool ExpiresOnReboot { get; set; }

        public bool SuppressDisplay { get; set; }

        public AppNotificationPriority Priority { get; set; }
    }

    public sealed class AppNotificationManager
    {
        private const int MaxBytes = 5 << 10;

        public static AppNotificationManager Default { get; } = new AppNotificationManager();

        /// <summary>What the notification centre shows.</summary>
        public List<AppNotification> Shown { get; } = new List<AppNotification>();

        /// <summary>As on Windows, the same tag and group replace.</summary>
        public void Show(AppNotification notification)
        {
            if (Encoding.UTF8.GetByteCount(notification.Payload) > MaxBytes)
            {
                throw new System.Runtime.InteropServices.COMException("Refused", unchecked((int)0x803E0115));
            }

            lock (Shown)
            {
                Shown.RemoveAll(other => other.Tag == notification.Tag && other.Group == notification.Group);
                Shown.Add(notification);
            }
        }

        public IAsyncOperation<IList<AppNotification>> GetAllAsync()
        {
            lock (Shown)
            {
                return new StandInOperation<IList<AppNotification>>(
                    Task.FromResult<IList<AppNotification>>(Shown.ToList()));
            }
        }

        public IAsyncAction RemoveByTagAndGroupAsync(string tag, string group) =>
            Remove(notification => notification.Tag == tag && notification.Group == group);

        public IAsyncAction RemoveByGroupAsync(string group) => Remove(notification => notification.Group == group);

        private IAsyncAction Remove(Predicate<AppNotification> which)
        {
            lock (Shown)
            {
                Shown.RemoveAll(which);
            }

            return new StandInAction(Task.CompletedTask);
        }
    }
}

namespace Microsoft.Windows.PushNotifications
{
    public enum PushNotificationChannelStatus
    {
        InProgress, InProgressRetry, CompletedSuccess, CompletedFailure,
    }

    public struct PushNotificationCreateChannelStatus
    {
    }

    public sealed class PushNotificationChannel
    {
        public Uri Uri { get; set; }
    }

    public sealed class PushNotificationCreateChannelResult
    {
        public PushNotificationChannel Channel { get; set; }

        public PushNotificationChannelStatus Status { get; set; }
    }

    public sealed class PushNotificationReceivedEventArgs
    {
        private BackgroundTaskCanceledEventHandler canceled;

        /// <summary>As on Windows, only a background activation can be cancelled.</summary>
        public event BackgroundTaskCanceledEventHandler Canceled
        {
            add => canceled += IsForeground ? throw new InvalidOperationException() : value;
            remove => canceled -= IsForeground ? throw new InvalidOperationException() : value;
        }

        public bool IsForeground { get; set; }

        public byte[] Payload { get; set; }

        public int Completions { get; private set; }

        public BackgroundTaskDeferral GetDeferral() => IsForeground
            ? throw new InvalidOperationException()
            : new BackgroundTaskDeferral(() => Completions++);

        public void Cancel() => canceled?.Invoke(null, BackgroundTaskCancellationReason.ExecutionTimeExceeded);
    }

    public sealed class PushNotificationManager
    {
        public event TypedEventHandler<PushNotificationManager, PushNotificationReceivedEventArgs> PushReceived;

        public static PushNotificationManager Default { get; set; } = new PushNotificationManager();

        public static bool Supports { get; set; } = true;

        /// <summary>The next answer to a request for a channel.</summary>
        public PushNotificationCreateChannelResult Next { get; set; }

        public Guid LastRemoteId { get; private set; }

        public int Registrations { get; private set; }

        public static bool IsSupported() => Supports;

        /// <summary>As on Windows, the events come before it.</summary>
        public void Register()
        {
            Registrations += PushReceived == null || Registrations > 0 ? throw new InvalidOperationException() : 1;
        }

        public IAsyncOperationWithProgress<PushNotificationCreateChannelResult, PushNotificationCreateChannelStatus>
            CreateChannelAsync(Guid remoteId)
        {
            LastRemoteId = remoteId;
            return new StandInProgress<PushNotificationCreateChannelResult, PushNotificationCreateChannelStatus>(
                Next != null
                    ? Task.FromResult(Next)
                    : Task.FromException<PushNotificationCreateChannelResult>(new System.IO.IOException()));
        }

        /// <summary>A push arrives.</summary>
        public void Receive(PushNotificationReceivedEventArgs args) => PushReceived?.Invoke(this, args);
    }
}
