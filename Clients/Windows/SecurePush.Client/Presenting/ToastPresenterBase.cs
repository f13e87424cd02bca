using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Shows notifications as toasts: what is the same for UWP and the Windows App SDK. Every text of the app comes
    /// from its resources, by the keys of <see cref="ClientTexts"/>; <c>{0}</c> in it becomes the code. A tap starts the
    /// app with the notification's ID in the argument. The calls of Windows may block, so they run on other threads.
    /// </summary>
    public abstract class ToastPresenterBase : INotificationPresenter
    {
        /// <summary>The group of all toasts of the SDK. Toasts of other parts of the app are left alone.</summary>
        public const string Group = "securepush";

        /// <summary>How long a secret stays in the notification centre, unless the app says so.</summary>
        private static readonly TimeSpan Day = TimeSpan.FromDays(1);

        private readonly Func<string, string> localize;
        private readonly TimeSpan lifetime;

        internal ToastPresenterBase(Func<string, string> localize, TimeSpan? lifetime)
        {
            this.localize = localize;
            this.lifetime = lifetime ?? Day;
        }

        /// <summary>
        /// The ID in the argument with which a tap on a toast or on one of its buttons starts the app; <c>null</c> if
        /// it has none.
        /// </summary>
        public static PushId IdOf(string argument) => ToastContent.IdOf(argument);

        /// <summary>
        /// What the user has answered by a button, for <see cref="SecurePushClient.AnswerAsync"/>; <c>null</c> if the
        /// argument is not the one of a button.
        /// </summary>
        /// <param name="argument">The argument with which Windows has started the app.</param>
        /// <param name="userInput">
        /// What the user has written: <c>UserInput</c> of the event, whose keys are the actions' IDs. <c>null</c> is
        /// allowed.
        /// </param>
        public static NotificationAnswer AnswerOf<T>(string argument, IEnumerable<KeyValuePair<string, T>> userInput)
        {
            var inputs = userInput ?? Enumerable.Empty<KeyValuePair<string, T>>();
            return ToastContent.Answer(
                argument, action => inputs.Where(input => input.Key == action).Select(input => input.Value as object)
                    .FirstOrDefault() as string);
        }

        /// <inheritdoc/>
        public Task ShowAsync(SecretNotification secret) => Task.Run(() =>
        {
            var end = DateTimeOffset.UtcNow + lifetime;
            Show(new Toast
            {
                Tag = secret.Id.ToString(), Xml = ToastContent.Xml(secret),
                ExpiresAt = secret.ExpiresAt < end ? secret.ExpiresAt : end, Level = secret.Message?.Level,
            });
        });

        /// <inheritdoc/>
        public Task ShowAsync(GenericNotice notice)
        {
            var id = notice.Id?.ToString();
            return ShowTextAsync(id ?? ToastContent.NoticeTag, id ?? "", notice.LocalizationKey, notice.Code);
        }

        /// <inheritdoc/>
        public Task ShowAsync(LogInPrompt prompt) =>
            ShowTextAsync(ToastContent.PromptTag, "", prompt.LocalizationKey, prompt.Code);

        /// <inheritdoc/>
        public async Task RemoveAsync(IReadOnlyCollection<PushId> ids)
        {
            var shown = new HashSet<string>((await ShownAsync().ConfigureAwait(false)).Select(toast => toast.Tag));
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
        public abstract Task RemoveAllAsync();

        /// <inheritdoc/>
        public abstract Task SetBadgeAsync(int count);

        /// <inheritdoc/>
        public async Task<ISet<PushId>> DisplayedSecretsAsync()
        {
            var ids = (await ShownAsync().ConfigureAwait(false))
                .Where(toast => (toast.Launch ?? "").StartsWith(ToastContent.SecretMark, StringComparison.Ordinal))
                .Select(toast => PushId.From(toast.Tag)).Where(id => id != null);
            return new HashSet<PushId>(ids);
        }

        internal abstract void Show(Toast toast);

        /// <summary>The toasts of <see cref="Group"/>, with their tags and arguments.</summary>
        internal abstract Task<IEnumerable<Toast>> ShownAsync();

        internal abstract Task RemoveAsync(string tag);

        private Task ShowTextAsync(string tag, string launch, string key, DiagnosticCode code) => Task.Run(() =>
            Show(new Toast { Tag = tag, Xml = ToastContent.Xml(launch, ToastContent.Text(localize, key, code)) }));

        /// <summary>One toast.</summary>
        internal sealed class Toast
        {
            public string Tag { get; set; }

            public string Xml { get; set; }

            /// <summary>The argument of one that is shown; <c>null</c> if it has none.</summary>
            public string Launch { get; set; }

            /// <summary>When Windows removes it; <c>null</c>: when the user does.</summary>
            public DateTimeOffset? ExpiresAt { get; set; }

            /// <summary>A passive one comes without a banner, a time-sensitive one with a high priority.</summary>
            public MessageLevel? Level { get; set; }
        }
    }

    /// <summary>What the user has answered by a button of a toast. The text does not show in ToString.</summary>
    public sealed class NotificationAnswer
    {
        internal NotificationAnswer(PushId id, string action, string text)
        {
            Id = id;
            Action = action;
            Text = text;
        }

        /// <summary>The notification.</summary>
        public PushId Id { get; }

        /// <summary>The action's ID.</summary>
        public string Action { get; }

        /// <summary>What the user has written; <c>null</c> if the action takes no text.</summary>
        public string Text { get; }

        /// <inheritdoc/>
        public override string ToString() => "answer to " + Id;
    }
}
