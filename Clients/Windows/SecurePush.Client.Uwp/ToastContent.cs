using System;
using System.Text;

namespace SecurePush.Toasts
{
    /// <summary>
    /// Writes the XML of a toast, and names toasts. The packages for UWP and for the Windows App SDK both contain it.
    /// </summary>
    internal static class ToastContent
    {
        /// <summary>The group of all toasts of the SDK.</summary>
        public const string Group = "securepush";

        /// <summary>The tag of the prompt. No ID has a dot at its end.</summary>
        public const string PromptTag = "secure-push-log-in.";

        /// <summary>The tag of the notices without an ID.</summary>
        public const string NoticeTag = "secure-push-notice.";

        /// <summary>Before the ID in the argument of a toast that shows a secret.</summary>
        public const string SecretMark = "securepush-secret=";

        /// <summary>How long a secret stays in the notification centre, unless the app says so: a day.</summary>
        public static readonly TimeSpan Lifetime = TimeSpan.FromDays(1);

        /// <summary>
        /// Windows refuses notifications of more than 5 KB. The text gets most of it, in bytes of its XML form.
        /// </summary>
        private const int MaxTextBytes = 4 << 10;

        /// <summary>
        /// A toast with one text. A text that is too long ends with an ellipsis; the app shows it whole.
        /// </summary>
        public static string Xml(string launch, string text) =>
            "<toast launch=\"" + Escaped(launch) + "\"><visual><binding template=\"ToastGeneric\"><text>"
            + Escaped(text) + "</text></binding></visual></toast>";

        /// <summary>The ID in the argument of a toast; <c>null</c> if it has none.</summary>
        public static PushId IdOf(string launch) => PushId.From((launch ?? "").Replace(SecretMark, ""));

        /// <summary>The text of the app for a key, or the code if the app has none.</summary>
        public static string Text(Func<string, string> localize, string key, DiagnosticCode code)
        {
            var text = localize(key);
            var shown = code?.ToString() ?? "";
            return string.IsNullOrEmpty(text) ? shown : text.Replace("({0})", code == null ? "" : "(" + shown + ")").Replace("{0}", shown).TrimEnd();
        }

        /// <summary>Escapes a text, without the characters that XML 1.0 does not allow.</summary>
        private static string Escaped(string text)
        {
            var xml = new StringBuilder();
            var bytes = 0;
            for (var i = 0; i < text.Length; i++)
            {
                var isPair = i + 1 < text.Length && char.IsSurrogatePair(text[i], text[i + 1]);
                var part = isPair ? text.Substring(i, 2) : Escaped(text[i]);
                bytes += Encoding.UTF8.GetByteCount(part);
                if (bytes > MaxTextBytes)
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
