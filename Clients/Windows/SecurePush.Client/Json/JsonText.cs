using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace SecurePush
{
    /// <summary>Reads and writes the strings of JSON (RFC 8259, section 7).</summary>
    internal static class JsonText
    {
        private const string Escapes = "\"\\/bfnrt";
        private const string Escaped = "\"\\/\b\f\n\r\t";

        /// <summary>
        /// The value of what stands between the quotation marks. Half a surrogate pair becomes U+FFFD.
        /// </summary>
        /// <exception cref="System.FormatException">There is a wrong escape.</exception>
        public static string Decode(byte[] bytes, int start, int end)
        {
            var text = Encoding.UTF8.GetString(bytes, start, end - start);
            if (text.IndexOf('\\') < 0)
            {
                return text;
            }

            var result = new StringBuilder(text.Length);
            for (var position = 0; position < text.Length; position++)
            {
                if (text[position] != '\\')
                {
                    result.Append(text[position]);
                    continue;
                }

                position++;
                var index = position < text.Length ? Escapes.IndexOf(text[position]) : -1;
                if (index >= 0)
                {
                    result.Append(Escaped[index]);
                    continue;
                }

                result.Append(Unit(text, position));
                position += 4;
            }

            return WithoutHalves(result).ToString();
        }

        /// <summary>Adds a string with its quotation marks.</summary>
        public static void Append(StringBuilder json, string text)
        {
            json.Append('"');
            foreach (var character in text)
            {
                if (character == '"' || character == '\\')
                {
                    json.Append('\\').Append(character);
                }
                else if (character < 0x20 || char.IsSurrogate(character))
                {
                    json.Append("\\u").Append(((int)character).ToString("x4", CultureInfo.InvariantCulture));
                }
                else
                {
                    json.Append(character);
                }
            }

            json.Append('"');
        }

        /// <summary>An object whose members are strings or lists of strings.</summary>
        public static byte[] Object(params KeyValuePair<string, object>[] members)
        {
            var json = new StringBuilder("{");
            foreach (var member in members)
            {
                json.Append(json.Length > 1 ? "," : "");
                Append(json, member.Key);
                json.Append(':');
                if (member.Value is string text)
                {
                    Append(json, text);
                }
                else
                {
                    AppendList(json, (IEnumerable<string>)member.Value);
                }
            }

            return Encoding.UTF8.GetBytes(json.Append('}').ToString());
        }

        /// <summary>A member of an object.</summary>
        public static KeyValuePair<string, object> Member(string name, object value) =>
            new KeyValuePair<string, object>(name, value);

        private static void AppendList(StringBuilder json, IEnumerable<string> texts)
        {
            json.Append('[');
            var separator = "";
            foreach (var text in texts)
            {
                json.Append(separator);
                Append(json, text);
                separator = ",";
            }

            json.Append(']');
        }

        private static char Unit(string text, int position)
        {
            var unit = 0;
            if (position + 5 > text.Length || text[position] != 'u'
                || !int.TryParse(
                    text.Substring(position + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture,
                    out unit))
            {
                throw JsonScanner.Malformed();
            }

            return (char)unit;
        }

        private static StringBuilder WithoutHalves(StringBuilder text)
        {
            for (var position = 0; position < text.Length; position++)
            {
                if (!char.IsSurrogate(text[position]))
                {
                    continue;
                }

                if (char.IsHighSurrogate(text[position]) && position + 1 < text.Length
                    && char.IsLowSurrogate(text[position + 1]))
                {
                    position++;
                }
                else
                {
                    text[position] = '\uFFFD';
                }
            }

            return text;
        }
    }
}
