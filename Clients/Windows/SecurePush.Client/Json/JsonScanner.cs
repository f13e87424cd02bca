using System;

namespace SecurePush
{
    /// <summary>Finds the ends of the values of a JSON text (RFC 8259), and refuses every other text.</summary>
    internal struct JsonScanner
    {
        /// <summary>The server's payloads are at most 128 deep; the answer adds three levels.</summary>
        private const int MaxDepth = 160;

        /// <summary>That of envelopes and keys.</summary>
        private const int MaxStrictDepth = 32;

        private readonly byte[] bytes;
        private readonly bool isStrict;

        /// <param name="bytes">The text.</param>
        /// <param name="isStrict">Whether halves of surrogate pairs are refused, and what is deeper than 32.</param>
        public JsonScanner(byte[] bytes, bool isStrict = false)
        {
            this.bytes = bytes;
            this.isStrict = isStrict;
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
                    return SkipContainer(position, '}', depth);
                case '[':
                    return SkipContainer(position, ']', depth);
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

        public int SkipString(int position)
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
            if (isStrict && char.IsSurrogate(unit))
            {
                Require(position, '\\');
                Require(position + 1, 'u');
                if (!char.IsSurrogatePair(unit, (char)Unit(position + 2)))
                {
                    throw Malformed();
                }

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

        private int SkipContainer(int position, char last, int depth)
        {
            if (depth >= (isStrict ? MaxStrictDepth : MaxDepth))
            {
                throw Malformed();
            }

            position = SkipBlanks(position + 1);
            if (IsAt(position, last))
            {
                return position + 1;
            }

            while (true)
            {
                if (last == '}')
                {
                    position = SkipBlanks(SkipString(position));
                    Require(position, ':');
                    position = SkipBlanks(position + 1);
                }

                position = SkipBlanks(SkipValue(position, depth + 1));
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

        private void Require(int position, char character)
        {
            if (!IsAt(position, character))
            {
                throw Malformed();
            }
        }
    }
}
