using System;

namespace SecurePush
{
    /// <summary>Finds the ends of the values of a JSON text (RFC 8259), and refuses every other text.</summary>
    internal struct JsonScanner
    {
        /// <summary>The server's payloads are at most 128 deep; the answer adds three levels.</summary>
        private const int MaxDepth = 160;

        private readonly byte[] bytes;

        public JsonScanner(byte[] bytes)
        {
            this.bytes = bytes;
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

            var end = position + (bytes[position] == 'u' ? 5 : 1);
            for (position++; position < end; position++)
            {
                if (position >= bytes.Length || !Uri.IsHexDigit((char)bytes[position]))
                {
                    throw Malformed();
                }
            }

            return end;
        }

        private int SkipContainer(int position, char last, int depth)
        {
            if (depth >= MaxDepth)
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
