using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using System.Xml;
using System.Xml.Linq;
using Microsoft.Windows.AppNotifications;
using SecurePush.Toasts;
using Windows.UI.Notifications;

namespace SecurePush.WindowsApp
{
    /// <summary>
    /// Shows notifications as app notifications of the Windows App SDK, and the number of unread ones as the badge of
    /// the app, if it is packaged. A tap starts the app with the notification's ID as the argument.
    /// Secrets go when the device restarts, and after a lifetime. The calls of Windows may block, so they run on other
    /// threads.
    /// </summary>
    public sealed class AppNotificationPresenter : INotificationPresenter
    {
        /// <summary>
        /// The group of all notifications of the SDK. Notifications of other parts of the app are left alone.
        /// </summary>
        public const string Group = ToastContent.Group;

        private readonly Func<string, string> localize;
        private readonly TimeSpan lifetime;

        /// <summary>Makes a presenter.</summary>
        /// <param name="localize">
        /// Translates the keys of <see cref="ClientTexts"/>, such as by <c>ResourceLoader.GetString</c>; <c>{0}</c> in
        /// a text becomes the code.
        /// </param>
        /// <param name="lifetime">
        /// When Windows removes a secret from the notification centre; after a day if it is <c>null</c>.
        /// </param>
        public AppNotificationPresenter(Func<string, string> localize, TimeSpan? lifetime = null)
        {
            this.localize = localize ?? throw new ArgumentNullException(nameof(localize));
            this.lifetime = lifetime ?? ToastContent.Lifetime;
        }

        /// <summary>
        /// The ID in the argument of <c>AppNotificationActivatedEventArgs</c>; <c>null</c> if it has none.
        /// </summary>
        public static PushId IdOf(string argument) => ToastContent.IdOf(argument);

        /// <inheritdoc/>
        public Task ShowAsync(SecretNotification secret) =>
            Show(secret.Id.ToString(), ToastContent.SecretMark + secret.Id, () => secret.Text, lifetime);

        /// <inheritdoc/>
        public Task ShowAsync(GenericNotice notice)
        {
            var id = notice.Id?.ToString();
            return Show(
                id ?? ToastContent.NoticeTag, id ?? "",
                () => ToastContent.Text(localize, notice.LocalizationKey, notice.Code));
        }

        /// <inheritdoc/>
        public Task ShowAsync(LogInPrompt prompt) =>
            Show(
                ToastContent.PromptTag, "", () => ToastContent.Text(localize, prompt.LocalizationKey, prompt.Code));

        /// <inheritdoc/>
        public async Task RemoveAsync(IReadOnlyCollection<PushId> ids)
        {
            var shown = new HashSet<string>((await OursAsync().ConfigureAwait(false)).Select(ours => ours.Tag));
            foreach (var id in ids.Select(id => id.ToString()).Where(shown.Contains))
            {
                await RemoveAsync(id).ConfigureAwait(false);
            }
        }

        /// <inheritdoc/>
        public async Task RemovePromptAsync()
        {
            await RemoveAsync(ToastContent.PromptTag).ConfigureAwait(false);
            await RemoveAsync(ToastContent.NoticeTag).ConfigureAwait(false);
        }

        /// <inheritdoc/>
        public async Task RemoveAllAsync()
        {
            await Task.Run(() => AppNotificationManager.Default.RemoveByGroupAsync(Group).AsTask())
                .ConfigureAwait(false);
            await SetBadgeAsync(0).ConfigureAwait(false);
        }

        /// <inheritdoc/>
        public Task SetBadgeAsync(int count) => Task.Run(() =>
        {
            var updater = BadgeUpdateManager.CreateBadgeUpdaterForApplication();
            if (count <= 0)
            {
                updater.Clear();
                return;
            }

            var badge = new Windows.Data.Xml.Dom.XmlDocument();
            badge.LoadXml("<badge value=\"" + count.ToString(CultureInfo.InvariantCulture) + "\"/>");
            updater.Update(new BadgeNotification(badge));
        });

        /// <inheritdoc/>
        public async Task<ISet<PushId>> DisplayedSecretsAsync()
        {
            var ids = (await OursAsync().ConfigureAwait(false)).Where(IsSecret).Select(ours => PushId.From(ours.Tag))
                .Where(id => id != null);
            return new HashSet<PushId>(ids);
        }

        private static async Task<List<AppNotification>> OursAsync()
        {
            var all = await Task.Run(() => AppNotificationManager.Default.GetAllAsync().AsTask())
                .ConfigureAwait(false);
            return all.Where(notification => notification.Group == Group).ToList();
        }

        private static bool IsSecret(AppNotification notification)
        {
            try
            {
                var launch = (string)XElement.Parse(notification.Payload).Attribute("launch") ?? "";
                return launch.StartsWith(ToastContent.SecretMark, StringComparison.Ordinal);
            }
            catch (XmlException)
            {
                return false;
            }
        }

        private static Task RemoveAsync(string tag) =>
            Task.Run(() => AppNotificationManager.Default.RemoveByTagAndGroupAsync(tag, Group).AsTask());

        private static Task Show(
            string tag, string launch, Func<string> text, TimeSpan? lifetime = null) => Task.Run(() =>
        {
            var notification = new AppNotification(ToastContent.Xml(launch, text()))
            {
                Tag = tag, Group = Group, ExpiresOnReboot = true,
            };
            if (lifetime != null)
            {
                notification.Expiration = DateTimeOffset.UtcNow + lifetime.Value;
            }

            AppNotificationManager.Default.Show(notification);
        });
    }
}
