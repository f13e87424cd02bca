using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using SecurePush.Toasts;
using Windows.ApplicationModel.Resources;
using Windows.Data.Xml.Dom;
using Windows.UI.Notifications;

namespace SecurePush.Uwp
{
    /// <summary>
    /// Shows notifications as toasts of UWP, on this device only, and the number of unread ones as the app's badge.
    /// </summary>
    public sealed class ToastPresenter : ToastPresenterBase
    {
        /// <summary>Makes a presenter.</summary>
        /// <param name="localize">
        /// Translates the keys of the texts; the app's resources (<c>Resources.resw</c>) if it is <c>null</c>.
        /// </param>
        /// <param name="lifetime">
        /// When Windows removes a secret from the action centre, unless it expires before; after a day if it is
        /// <c>null</c>.
        /// </param>
        public ToastPresenter(Func<string, string> localize = null, TimeSpan? lifetime = null)
            : base(localize ?? FromResources, lifetime)
        {
        }

        /// <inheritdoc/>
        public override async Task RemoveAllAsync()
        {
            await Task.Run(() => ToastNotificationManager.History.RemoveGroup(Group)).ConfigureAwait(false);
            await SetBadgeAsync(0).ConfigureAwait(false);
        }

        /// <inheritdoc/>
        public override Task SetBadgeAsync(int count) => AppBadge.SetAsync(count);

        internal override void Show(Toast toast)
        {
            var content = new XmlDocument();
            content.LoadXml(toast.Xml);
            ToastNotificationManager.CreateToastNotifier().Show(new ToastNotification(content)
            {
                Tag = toast.Tag, Group = Group, NotificationMirroring = NotificationMirroring.Disabled,
                ExpirationTime = toast.ExpiresAt, SuppressPopup = toast.Level == MessageLevel.Passive,
                Priority = toast.Level == MessageLevel.TimeSensitive
                    ? ToastNotificationPriority.High
                    : ToastNotificationPriority.Default,
            });
        }

        internal override Task<IEnumerable<Toast>> ShownAsync() => Task.Run(() =>
            (IEnumerable<Toast>)ToastNotificationManager.History.GetHistory().Where(toast => toast.Group == Group)
                .Select(toast => new Toast
                {
                    Tag = toast.Tag, Launch = toast.Content.DocumentElement.GetAttribute("launch"),
                }).ToList());

        internal override Task RemoveAsync(string tag) =>
            Task.Run(() => ToastNotificationManager.History.Remove(tag, Group));

        /// <summary>A dot in the name of a resource is a slash for the loader.</summary>
        private static string FromResources(string key) =>
            ResourceLoader.GetForViewIndependentUse().GetString(key.Replace('.', '/'));
    }
}
