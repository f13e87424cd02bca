using System;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>Writes the XML of a toast, and the arguments with which a tap starts the app.</summary>
    internal static class ToastContent
    {
        /// <summary>The tag of the prompt. No ID has a dot at its end.</summary>
        public const string PromptTag = "secure-push-log-in.";

        /// <summary>The tag of the notices without an ID.</summary>
        public const string NoticeTag = "secure-push-notice.";

        /// <summary>Before the ID in the argument of a toast that shows a secret.</summary>
        public const string SecretMark = "securepush-secret=";

        /// <summary>Before the ID and the action in the argument of a button.</summary>
        private const string AnswerMark = "securepush-answer=";

        /// <summary>The argument of a thread's heading. It is no ID.</summary>
        private const string ThreadArgument = "securepush-thread.";

        /// <summary>
        /// Windows refuses notifications of more than 5 KB. The text gets most of it, in bytes of its XML form.
        /// </summary>
        private const int MaxBytes = 5000;
        private const int MaxTextBytes = 4 << 10;

        /// <summary>A toast with one text.</summary>
        public static string Xml(string launch, string text) => Xml(launch, "", "", text, "");

        /// <summary>
        /// A toast with a secret: the title of a message above its text, its thread as a heading, and its actions as
        /// buttons. A text that is too long ends with an ellipsis; the app shows it whole.
        /// </summary>
        public static string Xml(SecretNotification secret)
        {
            var message = secret.Message;
            var launch = SecretMark + secret.Id;
            if (message == null)
            {
                return Xml(launch, secret.Text);
            }

            var thread = string.IsNullOrEmpty(message.Thread) ? "" : Element(
                "header", "id", message.Thread, "title", message.Title ?? message.Thread, "arguments", ThreadArgument);
            var title = message.Title == null ? "" : "<text>" + Escaped(message.Title, MaxTextBytes) + "</text>";
            var inputs = message.Actions.Where(action => action.TakesText)
                .Select(action => Element("input", "id", action.Id, "type", "text"));
            var buttons = message.Actions.Select(action => Element(
                "action", "content", action.Title, "arguments", AnswerMark + secret.Id + "/" + action.Id,
                action.TakesText ? "hint-inputId" : "activationType", action.TakesText ? action.Id : "foreground"));
            var actions = message.Actions.Count == 0
                ? ""
                : "<actions>" + string.Concat(inputs.Concat(buttons)) + "</actions>";
            var silence = message.Level == MessageLevel.Passive ? Element("audio", "silent", "true") : "";
            return Xml(launch, thread, title, message.Body, actions + silence);
        }

        /// <summary>The ID in the argument of a toast or a button; <c>null</c> if it has none.</summary>
        public static PushId IdOf(string argument) =>
            Answer(argument, null)?.Id ?? PushId.From((argument ?? "").Replace(SecretMark, ""));

        /// <summary>What the user has answered; <c>null</c> if the argument is not the one of a button.</summary>
        public static NotificationAnswer Answer(string argument, Func<string, string> input)
        {
            var words = argument != null && argument.StartsWith(AnswerMark, StringComparison.Ordinal)
                ? argument.Substring(AnswerMark.Length).Split('/')
                : new string[0];
            var id = words.Length == 2 ? PushId.From(words[0]) : null;
            return id != null && MessageAction.IsId(words[1])
                ? new NotificationAnswer(id, words[1], input?.Invoke(words[1]))
                : null;
        }

        /// <summary>The text of the app for a key, or the code if the app has none.</summary>
        public static string Text(Func<string, string> localize, string key, DiagnosticCode code)
        {
            var text = localize(key);
            return string.IsNullOrEmpty(text) ? code?.ToString() ?? key : text.Replace("{0}", code?.ToString() ?? "");
        }

        private static string Xml(string launch, string thread, string title, string text, string rest)
        {
            var begin = "<toast launch=\"" + Escaped(launch, MaxBytes) + "\">" + thread
                + "<visual><binding template=\"ToastGeneric\">" + title + "<text>";
            var end = "</text></binding></visual>" + rest + "</toast>";
            var left = MaxBytes - Encoding.UTF8.GetByteCount(begin + end);
            return begin + Escaped(text, Math.Min(left, MaxTextBytes)) + end;
        }

        /// <param name="name">The name.</param>
        /// <param name="attributes">Names and values by turns.</param>
        private static string Element(string name, params string[] attributes)
        {
            var xml = new StringBuilder("<" + name);
            for (var i = 0; i < attributes.Length; i += 2)
            {
                xml.Append(' ').Append(attributes[i]).Append("=\"").Append(Escaped(attributes[i + 1], MaxBytes))
                    .Append('"');
            }

            return xml.Append("/>").ToString();
        }

        /// <summary>Escapes a text, without the characters that XML 1.0 does not allow.</summary>
        private static string Escaped(string text, int maxBytes)
        {
            var xml = new StringBuilder();
            var bytes = 0;
            for (var i = 0; i < text.Length; i++)
            {
                var isPair = i + 1 < text.Length && char.IsSurrogatePair(text[i], text[i + 1]);
                var part = isPair ? text.Substring(i, 2) : Escaped(text[i]);
                bytes += Encoding.UTF8.GetByteCount(part);
                if (bytes > maxBytes)
                {
                    return xml.Append('…').ToString();
                }

                xml.Append(part);
                i += isPair ? 1 : 0;
            }

            return xml.ToString();
        }

        private static string Escaped(char character)
        {
            switch (character)
            {
                case '<':
                    return "&lt;";
                case '>':
                    return "&gt;";
                case '&':
                    return "&amp;";
                case '"':
                    return "&quot;";
                case '\t':
                case '\n':
                    return character.ToString();
                default:
                    var isAllowed = character >= ' ' && !char.IsSurrogate(character) && character < '\uFFFE';
                    return isAllowed ? character.ToString() : character == '\r' ? "" : "\uFFFD";
            }
        }
    }
}
