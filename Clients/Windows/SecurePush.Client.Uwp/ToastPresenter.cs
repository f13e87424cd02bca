using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using SecurePush.Toasts;
using Windows.ApplicationModel.Resources;
using Windows.Data.Xml.Dom;
using Windows.UI.Notifications;

namespace SecurePush.Uwp
{
    /// <summary>
    /// Shows notifications as toasts, and the number of unread ones as the app's badge.
    /// Every text of the app comes from its resources, by the keys of <see cref="ClientTexts"/>; <c>{0}</c> in it
    /// becomes the code. A tap starts the app with the notification's ID as the argument (<c>launch</c>).
    /// The calls of Windows may block, so they run on other threads.
    /// </summary>
    public sealed class ToastPresenter : INotificationPresenter
    {
        /// <summary>The group of all toasts of the SDK. Toasts of other parts of the app are left alone.</summary>
        public const string Group = ToastContent.Group;

        private readonly Func<string, string> localize;
        private readonly TimeSpan lifetime;

        /// <summary>Makes a presenter.</summary>
        /// <param name="localize">
        /// Translates the keys of the texts; the app's resources (<c>Resources.resw</c>) if it is <c>null</c>.
        /// </param>
        /// <param name="lifetime">
        /// When Windows removes a secret from the action centre; after a day if it is <c>null</c>.
        /// </param>
        public ToastPresenter(Func<string, string> localize = null, TimeSpan? lifetime = null)
        {
            this.localize = localize ?? FromResources;
            this.lifetime = lifetime ?? ToastContent.Lifetime;
        }

        /// <summary>
        /// The ID in the argument with which a tap on a toast starts the app; <c>null</c> if it has none.
        /// </summary>
        public static PushId IdOf(string launchArgument) => ToastContent.IdOf(launchArgument);

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
        public Task RemoveAsync(IReadOnlyCollection<PushId> ids) => Task.Run(() =>
        {
            var shown = new HashSet<string>(
                ToastNotificationManager.History.GetHistory().Where(IsOurs).Select(toast => toast.Tag));
            foreach (var id in ids.Select(id => id.ToString()).Where(shown.Contains))
            {
                ToastNotificationManager.History.Remove(id, Group);
            }
        });

        /// <inheritdoc/>
        public Task RemovePromptAsync() => Task.Run(() =>
        {
            ToastNotificationManager.History.Remove(ToastContent.PromptTag, Group);
            ToastNotificationManager.History.Remove(ToastContent.NoticeTag, Group);
        });

        /// <inheritdoc/>
        public async Task RemoveAllAsync()
        {
            await Task.Run(() => ToastNotificationManager.History.RemoveGroup(Group)).ConfigureAwait(false);
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

            var badge = new XmlDocument();
            badge.LoadXml("<badge value=\"" + count.ToString(CultureInfo.InvariantCulture) + "\"/>");
            updater.Update(new BadgeNotification(badge));
        });

        /// <inheritdoc/>
        public Task<ISet<PushId>> DisplayedSecretsAsync() => Task.Run<ISet<PushId>>(() =>
        {
            var ids = ToastNotificationManager.History.GetHistory().Where(IsOurs)
                .Where(toast => toast.Content.DocumentElement.GetAttribute("launch")
                    .StartsWith(ToastContent.SecretMark, StringComparison.Ordinal))
                .Select(toast => PushId.From(toast.Tag)).Where(id => id != null);
            return new HashSet<PushId>(ids);
        });

        private static bool IsOurs(ToastNotification toast) => toast.Group == Group;

        /// <summary>A dot in the name of a resource is a slash for the loader.</summary>
        private static string FromResources(string key) =>
            ResourceLoader.GetForViewIndependentUse().GetString(key.Replace('.', '/'));

        /// <summary>Shows a toast on this device only.</summary>
        private static Task Show(
            string tag, string launch, Func<string> text, TimeSpan? lifetime = null) => Task.Run(() =>
        {
            var content = new XmlDocument();
            content.LoadXml(ToastContent.Xml(launch, text()));
            var toast = new ToastNotification(content)
            {
                Tag = tag, Group = Group, NotificationMirroring = NotificationMirroring.Disabled,
            };
            if (lifetime != null)
            {
                toast.ExpirationTime = DateTimeOffset.UtcNow + lifetime.Value;
            }

            ToastNotificationManager.CreateToastNotifier().Show(toast);
        });
    }
}
