using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// A value in a JSON text (RFC 8259), read in place: no tree is built, so the text of a payload is kept exactly as
    /// it came, large numbers included. All readers of Windows and .NET turn numbers into others, and no one of them is
    /// on both mono and UWP without a package.
    /// </summary>
    internal sealed class JsonValue
    {
        private static readonly UTF8Encoding StrictUtf8 = new UTF8Encoding(false, true);

        private readonly byte[] bytes;
        private readonly int start;
        private readonly int end;

        internal JsonValue(byte[] bytes, int start, int end)
        {
            this.bytes = bytes;
            this.start = start;
            this.end = end;
        }

        /// <summary>Whether the value is a string.</summary>
        public bool IsString => bytes[start] == '"';

        /// <summary>Whether the value is an object.</summary>
        public bool IsObject => bytes[start] == '{';

        /// <summary>Whether the value is an array.</summary>
        public bool IsArray => bytes[start] == '[';

        /// <summary>Reads the value that a text consists of. A byte order mark is no JSON.</summary>
        /// <exception cref="FormatException">The text is not JSON in UTF-8.</exception>
        public static JsonValue Parse(byte[] text) => Parse(text, new JsonScanner(text));

        /// <summary>
        /// Reads a text that has to mean the same to every reader: payloads, and keys. Repeated names, halves of
        /// surrogate pairs and more than 32 levels are malformed.
        /// </summary>
        /// <exception cref="FormatException">It is malformed.</exception>
        public static JsonValue ParseStrictly(byte[] text)
        {
            var value = Parse(text, new JsonScanner(text, true));
            value.RequireUniqueNames();
            return value;
        }

        /// <summary>The members of an object. Repeated names are malformed.</summary>
        /// <exception cref="FormatException">It is no object.</exception>
        public IReadOnlyDictionary<string, JsonValue> Members()
        {
            var members = new Dictionary<string, JsonValue>(StringComparer.Ordinal);
            foreach (var member in AllMembers())
            {
                Require(!members.ContainsKey(member.Key));
                members[member.Key] = member.Value;
            }

            return members;
        }

        /// <summary>The members of an object in their order, repeated names included.</summary>
        /// <exception cref="FormatException">It is no object.</exception>
        public IReadOnlyList<KeyValuePair<string, JsonValue>> AllMembers()
        {
            Require(IsObject);
            var members = new List<KeyValuePair<string, JsonValue>>();
            var scanner = new JsonScanner(bytes);
            var position = scanner.SkipBlanks(start + 1);
            while (position < end - 1)
            {
                var nameEnd = scanner.SkipString(position);
                var name = new JsonValue(bytes, position, nameEnd).Text();
                var first = scanner.SkipBlanks(scanner.SkipBlanks(nameEnd) + 1);
                var last = scanner.SkipValue(first, 1);
                members.Add(new KeyValuePair<string, JsonValue>(name, new JsonValue(bytes, first, last)));
                position = AfterComma(scanner, last);
            }

            return members;
        }

        /// <summary>The elements of an array.</summary>
        /// <exception cref="FormatException">It is no array, or has more elements than allowed.</exception>
        public IReadOnlyList<JsonValue> Elements(int limit)
        {
            Require(IsArray);
            var elements = new List<JsonValue>();
            var scanner = new JsonScanner(bytes);
            var position = scanner.SkipBlanks(start + 1);
            while (position < end - 1)
            {
                var last = scanner.SkipValue(position, 1);
                Require(elements.Count < limit);
                elements.Add(new JsonValue(bytes, position, last));
                position = AfterComma(scanner, last);
            }

            return elements;
        }

        /// <summary>The JSON text of the value.</summary>
        public string Json() => Encoding.UTF8.GetString(bytes, start, end - start);

        /// <summary>The value of a string.</summary>
        /// <exception cref="FormatException">It is no string, or has a wrong escape.</exception>
        public string Text()
        {
            Require(IsString && end - start >= 2);
            return JsonText.Decode(bytes, start + 1, end - 1);
        }

        /// <summary>The value of a truth value.</summary>
        /// <exception cref="FormatException">It is none.</exception>
        public bool Boolean()
        {
            var json = end - start <= 5 ? Json() : "";
            Require(json == "true" || json == "false");
            return json == "true";
        }

        /// <summary>A whole number from 0 to a million.</summary>
        /// <exception cref="FormatException">It is none.</exception>
        public int Count()
        {
            var number = 0;
            Require(
                end - start <= 7
                && int.TryParse(Json(), NumberStyles.None, CultureInfo.InvariantCulture, out number)
                && number <= 1000000);
            return number;
        }

        /// <summary>A finite number.</summary>
        /// <exception cref="FormatException">It is none.</exception>
        public double Number()
        {
            var number = double.NaN;
            var style = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent;
            Require(
                end - start <= 40 && double.TryParse(Json(), style, CultureInfo.InvariantCulture, out number)
                && !double.IsNaN(number) && !double.IsInfinity(number));
            return number;
        }

        private static JsonValue Parse(byte[] text, JsonScanner scanner)
        {
            RequireUtf8(text);
            var start = scanner.SkipBlanks(0);
            var end = scanner.SkipValue(start, 0);
            if (scanner.SkipBlanks(end) != text.Length)
            {
                throw JsonScanner.Malformed();
            }

            return new JsonValue(text, start, end);
        }

        /// <summary>Refuses repeated names at any level.</summary>
        private void RequireUniqueNames()
        {
            var parts = IsObject ? Members().Values : IsArray ? Elements(int.MaxValue) : new JsonValue[0];
            foreach (var part in parts)
            {
                part.RequireUniqueNames();
            }
        }

        /// <summary>Other bytes would become U+FFFD, which nobody has written.</summary>
        private static void RequireUtf8(byte[] text)
        {
            try
            {
                StrictUtf8.GetCharCount(text);
            }
            catch (DecoderFallbackException)
            {
                throw JsonScanner.Malformed();
            }
        }

        private int AfterComma(JsonScanner scanner, int position)
        {
            position = scanner.SkipBlanks(position);
            return bytes[position] == ',' ? scanner.SkipBlanks(position + 1) : position;
        }

        private static void Require(bool condition)
        {
            if (!condition)
            {
                throw JsonScanner.Malformed();
            }
        }
    }
}
