using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Shows notifications to the user. <c>ToastPresenter</c> is the one for Windows; a tool writes lines.
    /// Everything is shown under an identifier, and replaces what was shown under the same one: secrets and generic
    /// texts use the notification's ID, the prompt and the notices without an ID use one identifier each.
    /// </summary>
    public interface INotificationPresenter
    {
        /// <summary>
        /// Shows a secret. It replaces the generic text of the same ID. If it throws, the secret was not shown, and the
        /// client tries again at the next wake.
        /// </summary>
        Task ShowAsync(SecretNotification secret);

        /// <summary>Shows the generic text.</summary>
        Task ShowAsync(GenericNotice notice);

        /// <summary>Shows the prompt to log in. It replaces the last prompt.</summary>
        Task ShowAsync(LogInPrompt prompt);

        /// <summary>
        /// Removes the secrets and the generic texts of these IDs, and of no others. Unknown IDs change nothing.
        /// </summary>
        Task RemoveAsync(IReadOnlyCollection<PushId> ids);

        /// <summary>Removes the prompt to log in.</summary>
        Task RemovePromptAsync();

        /// <summary>
        /// Removes everything that the SDK has shown, also what it has forgotten, and sets the number to 0. The client
        /// asks after a log-out.
        /// </summary>
        Task RemoveAllAsync();

        /// <summary>Sets the number on the app's tile and taskbar button.</summary>
        Task SetBadgeAsync(int count);

        /// <summary>
        /// The IDs whose secrets (not generic texts) the user can see now; <c>null</c> if the system cannot tell. The
        /// client asks after a crash, for a secret that it may have shown.
        /// </summary>
        Task<ISet<PushId>> DisplayedSecretsAsync();
    }

    /// <summary>A secret to show. Its text does not show in <see cref="ToString"/>.</summary>
    public sealed class SecretNotification
    {
        /// <summary>Makes a secret.</summary>
        public SecretNotification(PushId id, string text, string json, bool wasRead = false)
        {
            Id = id;
            Text = text;
            Json = json;
            WasRead = wasRead;
        }

        /// <summary>The notification's ID.</summary>
        public PushId Id { get; }

        /// <summary>
        /// The text to show: the content if it is a JSON string, or the body of a message. <c>null</c>: the content is
        /// something else, which only the app understands.
        /// </summary>
        public string Text { get; }

        /// <summary>The content's JSON text, exactly as the sender wrote it.</summary>
        public string Json { get; }

        /// <summary>The message; <c>null</c> if the content is none.</summary>
        public SecretMessage Message { get; private set; }

        /// <summary>Whether one of the user's devices had fetched it before.</summary>
        public bool WasRead { get; }

        /// <summary>Who is to show it: the sender's wish.</summary>
        public MessageDisplay Display { get; private set; }

        /// <summary>When it expires; <c>null</c> if the server does not say.</summary>
        public DateTimeOffset? ExpiresAt { get; private set; }

        /// <inheritdoc/>
        public override string ToString() => "secret " + Id;

        /// <summary>The same notification, opened.</summary>
        /// <param name="content">The content.</param>
        /// <param name="expiresAt">When the envelope expires, in seconds since 1970.</param>
        internal SecretNotification WithContent(JsonValue content, double? expiresAt = null)
        {
            var message = SecretMessage.From(content);
            var end = expiresAt == null || expiresAt > DateTimeOffset.MaxValue.ToUnixTimeSeconds()
                ? (DateTimeOffset?)null
                : DateTimeOffset.FromUnixTimeSeconds((long)expiresAt.Value);
            return new SecretNotification(
                Id, content.IsString ? content.Text() : message?.Body, content.Json(), WasRead)
            {
                Message = message, Display = Display,
                ExpiresAt = end < ExpiresAt || ExpiresAt == null ? end : ExpiresAt,
            };
        }

        /// <summary>The same notification with what the server says beside the payload.</summary>
        internal SecretNotification With(MessageDisplay display, DateTimeOffset? expiresAt)
        {
            Display = display;
            ExpiresAt = expiresAt;
            return this;
        }
    }

    /// <summary>The text that is shown in place of a secret that cannot be had now.</summary>
    public sealed class GenericNotice
    {
        /// <summary>Makes a notice.</summary>
        public GenericNotice(PushId id, string localizationKey, DiagnosticCode code)
        {
            Id = id;
            LocalizationKey = localizationKey;
            Code = code;
        }

        /// <summary>The notification's ID; <c>null</c> when the push had none that can be used.</summary>
        public PushId Id { get; }

        /// <summary>The key of the text in the app's resources.</summary>
        public string LocalizationKey { get; }

        /// <summary>The reason; <c>null</c> if nothing is wrong, and the app shows the secret.</summary>
        public DiagnosticCode Code { get; }
    }

    /// <summary>The text that asks the user to log in.</summary>
    public sealed class LogInPrompt
    {
        /// <summary>Makes a prompt.</summary>
        public LogInPrompt(IReadOnlyList<PushId> ids, string localizationKey, DiagnosticCode code)
        {
            Ids = ids;
            LocalizationKey = localizationKey;
            Code = code;
        }

        /// <summary>The notifications that wait for the log-in, oldest first.</summary>
        public IReadOnlyList<PushId> Ids { get; }

        /// <summary>The key of the text in the app's resources.</summary>
        public string LocalizationKey { get; }

        /// <summary><see cref="DiagnosticCode.LoggedOut"/> or 401.</summary>
        public DiagnosticCode Code { get; }
    }
}
