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
        /// <summary>The server's payloads are at most 128 deep; the answer adds three levels.</summary>
        private const int MaxDepth = 160;
        private const int MaxStrictDepth = 32;
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
        /// <param name="text">The text.</param>
        /// <param name="isStrict">
        /// Whether it has to mean the same to every reader, as payloads and keys have: repeated names and more than 32
        /// levels are malformed.
        /// </param>
        /// <exception cref="FormatException">
        /// The text is not JSON in UTF-8, or has half a surrogate pair.
        /// </exception>
        public static JsonValue Parse(byte[] text, bool isStrict = false)
        {
            RequireUtf8(text);
            var scanner = new JsonScanner(text, isStrict ? MaxStrictDepth : MaxDepth, isStrict);
            var start = scanner.SkipBlanks(0);
            var end = scanner.SkipValue(start, 0);
            Require(scanner.SkipBlanks(end) == text.Length);
            return new JsonValue(text, start, end);
        }

        /// <summary>The members of an object. Repeated names are malformed.</summary>
        /// <exception cref="FormatException">It is no object.</exception>
        public JsonMembers Members()
        {
            Require(IsObject);
            var members = new JsonMembers();
            new JsonScanner(bytes).SkipContainer(start, 0, (name, value) =>
            {
                var text = name.Text();
                Require(!members.ContainsKey(text));
                members.Add(text, value);
            });
            return members;
        }

        /// <summary>The elements of an array.</summary>
        /// <exception cref="FormatException">It is no array, or has more elements than allowed.</exception>
        public IReadOnlyList<JsonValue> Elements(int limit)
        {
            Require(IsArray);
            var elements = new List<JsonValue>();
            new JsonScanner(bytes).SkipContainer(start, 0, (name, value) =>
            {
                Require(elements.Count < limit);
                elements.Add(value);
            });
            return elements;
        }

        /// <summary>The JSON text of the value.</summary>
        public string Json() => Encoding.UTF8.GetString(bytes, start, end - start);

        /// <summary>The value of a string.</summary>
        /// <exception cref="FormatException">It is no string.</exception>
        public string Text()
        {
            Require(IsString);
            return JsonText.Decode(bytes, start + 1, end - 1);
        }

        /// <summary>The value of a truth value.</summary>
        /// <exception cref="FormatException">It is none.</exception>
        public bool Boolean()
        {
            Require(bytes[start] == 't' || bytes[start] == 'f');
            return bytes[start] == 't';
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

        /// <summary>Invalid bytes would become U+FFFD, which the sender has not written.</summary>
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

        private static void Require(bool condition)
        {
            if (!condition)
            {
                throw JsonScanner.Malformed();
            }
        }
    }
}
