using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using System.Xml;
using System.Xml.Linq;
using Microsoft.Windows.AppNotifications;
using SecurePush.Toasts;

namespace SecurePush.WindowsApp
{
    /// <summary>
    /// Shows notifications as app notifications of the Windows App SDK, and the number of unread ones as the badge of
    /// the app, if it is packaged. Secrets go when the device restarts, too.
    /// </summary>
    public sealed class AppNotificationPresenter : ToastPresenterBase
    {
        /// <summary>Makes a presenter.</summary>
        /// <param name="localize">
        /// Translates the keys of <see cref="ClientTexts"/>, such as by <c>ResourceLoader.GetString</c>.
        /// </param>
        /// <param name="lifetime">
        /// When Windows removes a secret from the notification centre, unless it expires before; after a day if it is
        /// <c>null</c>.
        /// </param>
        public AppNotificationPresenter(Func<string, string> localize, TimeSpan? lifetime = null)
            : base(localize ?? throw new ArgumentNullException(nameof(localize)), lifetime)
        {
        }

        /// <inheritdoc/>
        public override async Task RemoveAllAsync()
        {
            await Task.Run(() => AppNotificationManager.Default.RemoveByGroupAsync(Group).AsTask())
                .ConfigureAwait(false);
            await SetBadgeAsync(0).ConfigureAwait(false);
        }

        /// <inheritdoc/>
        public override Task SetBadgeAsync(int count) => AppBadge.SetAsync(count);

        internal override void Show(Toast toast)
        {
            var notification = new AppNotification(toast.Xml)
            {
                Tag = toast.Tag, Group = Group, ExpiresOnReboot = true,
                SuppressDisplay = toast.Level == MessageLevel.Passive,
                Priority = toast.Level == MessageLevel.TimeSensitive
                    ? AppNotificationPriority.High
                    : AppNotificationPriority.Default,
            };
            if (toast.ExpiresAt != null)
            {
                notification.Expiration = toast.ExpiresAt.Value;
            }

            AppNotificationManager.Default.Show(notification);
        }

        internal override async Task<IEnumerable<Toast>> ShownAsync()
        {
            var all = await Task.Run(() => AppNotificationManager.Default.GetAllAsync().AsTask())
                .ConfigureAwait(false);
            return all.Where(shown => shown.Group == Group)
                .Select(shown => new Toast { Tag = shown.Tag, Launch = LaunchOf(shown.Payload) });
        }

        internal override Task RemoveAsync(string tag) =>
            Task.Run(() => AppNotificationManager.Default.RemoveByTagAndGroupAsync(tag, Group).AsTask());

        private static string LaunchOf(string xml)
        {
            try
            {
                return (string)XElement.Parse(xml).Attribute("launch");
            }
            catch (XmlException)
            {
                return null;
            }
        }
    }
}
