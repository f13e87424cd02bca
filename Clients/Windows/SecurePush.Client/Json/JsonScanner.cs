using System;
using System.Collections.Generic;

namespace SecurePush
{
    /// <summary>Finds the ends of the values of a JSON text (RFC 8259), and refuses every other text.</summary>
    internal sealed class JsonScanner
    {
        private readonly byte[] bytes;
        private readonly int maxDepth;
        private readonly bool checksNames;

        /// <param name="bytes">The text, in UTF-8.</param>
        /// <param name="maxDepth">
        /// How deep arrays and objects may nest. The default is for a text that was checked.
        /// </param>
        /// <param name="checksNames">Whether an object may not repeat a name.</param>
        public JsonScanner(byte[] bytes, int maxDepth = int.MaxValue, bool checksNames = false)
        {
            this.bytes = bytes;
            this.maxDepth = maxDepth;
            this.checksNames = checksNames;
        }

        public static FormatException Malformed() => new FormatException("The text is not the JSON that it should be.");

        public int SkipBlanks(int position)
        {
            while (IsAt(position, ' ') || IsAt(position, '\n') || IsAt(position, '\r') || IsAt(position, '\t'))
            {
                position++;
            }

            return position;
        }

        /// <summary>Checks a value, and returns its end.</summary>
        public int SkipValue(int position, int depth)
        {
            switch (position < bytes.Length ? (char)bytes[position] : '\0')
            {
                case '"':
                    return SkipString(position);
                case '{':
                    var names = checksNames ? new HashSet<string>(StringComparer.Ordinal) : null;
                    return names == null
                        ? SkipContainer(position, depth)
                        : SkipContainer(position, depth, (name, value) => Require(names.Add(name.Text())));
                case '[':
                    return SkipContainer(position, depth);
                case 't':
                    return SkipWord("true", position);
                case 'f':
                    return SkipWord("false", position);
                case 'n':
                    return SkipWord("null", position);
                default:
                    return SkipNumber(position);
            }
        }

        private int SkipString(int position)
        {
            Require(position, '"');
            position++;
            while (position < bytes.Length)
            {
                switch (bytes[position])
                {
                    case (byte)'"':
                        return position + 1;
                    case (byte)'\\':
                        position = SkipEscape(position + 1);
                        break;
                    default:
                        if (bytes[position] < 0x20)
                        {
                            throw Malformed();
                        }

                        position++;
                        break;
                }
            }

            throw Malformed();
        }

        /// <summary>Checks what follows a reverse solidus.</summary>
        private int SkipEscape(int position)
        {
            if (position >= bytes.Length || "\"\\/bfnrtu".IndexOf((char)bytes[position]) < 0)
            {
                throw Malformed();
            }

            if (bytes[position] != 'u')
            {
                return position + 1;
            }

            var unit = (char)Unit(position + 1);
            position += 5;
            if (char.IsSurrogate(unit))
            {
                Require(position, '\\');
                Require(position + 1, 'u');
                Require(char.IsSurrogatePair(unit, (char)Unit(position + 2)));
                position += 6;
            }

            return position;
        }

        /// <summary>The number of four hexadecimal digits.</summary>
        private int Unit(int position)
        {
            var unit = 0;
            for (var end = position + 4; position < end; position++)
            {
                if (position >= bytes.Length || !Uri.IsHexDigit((char)bytes[position]))
                {
                    throw Malformed();
                }

                unit = (unit << 4) | Uri.FromHex((char)bytes[position]);
            }

            return unit;
        }

        /// <summary>Checks an object or array, and returns its end.</summary>
        /// <param name="position">Its start.</param>
        /// <param name="depth">The number of arrays and objects around it.</param>
        /// <param name="visit">
        /// Gets the name and the value of each member, or nothing and each element.
        /// </param>
        public int SkipContainer(int position, int depth, Action<JsonValue, JsonValue> visit = null)
        {
            Require(depth < maxDepth);
            var isObject = IsAt(position, '{');
            var last = isObject ? '}' : ']';
            position = SkipBlanks(position + 1);
            if (IsAt(position, last))
            {
                return position + 1;
            }

            while (true)
            {
                JsonValue name = null;
                if (isObject)
                {
                    var nameEnd = SkipString(position);
                    name = visit == null ? null : new JsonValue(bytes, position, nameEnd);
                    position = SkipBlanks(nameEnd);
                    Require(position, ':');
                    position = SkipBlanks(position + 1);
                }

                var end = SkipValue(position, depth + 1);
                visit?.Invoke(name, new JsonValue(bytes, position, end));
                position = SkipBlanks(end);
                if (IsAt(position, last))
                {
                    return position + 1;
                }

                Require(position, ',');
                position = SkipBlanks(position + 1);
            }
        }

        private int SkipWord(string word, int position)
        {
            foreach (var character in word)
            {
                Require(position, character);
                position++;
            }

            return position;
        }

        private int SkipNumber(int position)
        {
            position += IsAt(position, '-') ? 1 : 0;
            var integer = SkipDigits(position);
            if (IsAt(position, '0') && integer > position + 1)
            {
                throw Malformed();
            }

            position = integer;
            if (IsAt(position, '.'))
            {
                position = SkipDigits(position + 1);
            }

            if (IsAt(position, 'e') || IsAt(position, 'E'))
            {
                position++;
                position += IsAt(position, '+') || IsAt(position, '-') ? 1 : 0;
                position = SkipDigits(position);
            }

            return position;
        }

        private int SkipDigits(int start)
        {
            var position = start;
            while (position < bytes.Length && bytes[position] >= '0' && bytes[position] <= '9')
            {
                position++;
            }

            return position > start ? position : throw Malformed();
        }

        private bool IsAt(int position, char character) => position < bytes.Length && bytes[position] == character;

        private void Require(int position, char character) => Require(IsAt(position, character));

        private static void Require(bool condition)
        {
            if (!condition)
            {
                throw Malformed();
            }
        }
    }
}
