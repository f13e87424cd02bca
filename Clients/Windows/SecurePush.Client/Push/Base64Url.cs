using System;

namespace SecurePush
{
    /// <summary>
    /// Base64 with <c>-</c> and <c>_</c> and without padding (RFC 4648, section 5), decoded strictly: each value has
    /// one text.
    /// </summary>
    internal static class Base64Url
    {
        /// <summary>Longer texts are refused unread; signatures have 86 characters.</summary>
        private const int MaxShortLength = 1024;

        /// <summary>
        /// Decodes a short text; <c>null</c> unless it is what <see cref="Encode"/> makes of a value.
        /// </summary>
        public static byte[] Decode(string text) => Decode(text, MaxShortLength);

        /// <summary>Decodes a text of at most <paramref name="maxLength"/> characters.</summary>
        public static byte[] Decode(string text, int maxLength)
        {
            if (text == null || text.Length > maxLength || text.Length % 4 == 1)
            {
                return null;
            }

            var result = new byte[text.Length * 3 / 4];
            int bits = 0, held = 0, length = 0;
            foreach (var character in text)
            {
                var value = Value(character);
                if (value < 0)
                {
                    return null;
                }

                bits = (bits << 6) | value;
                held += 6;
                if (held >= 8)
                {
                    held -= 8;
                    result[length++] = (byte)(bits >> held);
                    bits &= (1 << held) - 1;
                }
            }

            // What is left are the unused bits of the last character: zero in the one text that the value has.
            return bits == 0 ? result : null;
        }

        /// <summary>Encodes bytes.</summary>
        public static string Encode(byte[] data) =>
            Convert.ToBase64String(data).TrimEnd('=').Replace('+', '-').Replace('/', '_');

        private static int Value(char character)
        {
            if (character >= 'A' && character <= 'Z')
            {
                return character - 'A';
            }

            if (character >= 'a' && character <= 'z')
            {
                return character - 'a' + 26;
            }

            if (character >= '0' && character <= '9')
            {
                return character - '0' + 52;
            }

            return character == '-' ? 62 : character == '_' ? 63 : -1;
        }
    }
}
