using System;
using System.Linq;

namespace SecurePush.Tests
{
    /// <summary>Bytes as the standards print them.</summary>
    public static class Hex
    {
        public static byte[] Bytes(string text)
        {
            var digits = string.Concat(text.Where(character => !char.IsWhiteSpace(character)));
            return Enumerable.Range(0, digits.Length / 2)
                .Select(i => Convert.ToByte(digits.Substring(2 * i, 2), 16)).ToArray();
        }

        public static string Text(byte[] bytes) =>
            bytes == null ? null : string.Concat(bytes.Select(value => value.ToString("x2")));
    }
}
