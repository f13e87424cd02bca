using System.Text;

namespace SecurePush.Uwp
{
    /// <summary>Writes the XML of a toast.</summary>
    internal static class ToastContent
    {
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
