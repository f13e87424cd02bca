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

        /// <summary>The value of what stands between the quotation marks of a string that was checked.</summary>
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
                var index = Escapes.IndexOf(text[position]);
                if (index >= 0)
                {
                    result.Append(Escaped[index]);
                    continue;
                }

                result.Append((char)int.Parse(
                    text.Substring(position + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture));
                position += 4;
            }

            return result.ToString();
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
                else if (character < 0x20)
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

        /// <summary>Adds an array of strings.</summary>
        public static void Append(StringBuilder json, IEnumerable<string> texts)
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
    }
}
