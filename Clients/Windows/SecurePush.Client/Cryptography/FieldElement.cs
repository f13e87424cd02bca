using System;

namespace SecurePush
{
    /// <summary>
    /// Numbers modulo 2^255 - 19 in 16 limbs of 16 bits, as in TweetNaCl (Bernstein and others, "TweetNaCl: a crypto
    /// library in 100 tweets"). No branch and no index depends on a value, so that time says nothing of a key.
    /// </summary>
    internal static class FieldElement
    {
        private const int Limbs = 16;

        public static long[] Zero() => new long[Limbs];

        public static long[] One() => Of(1);

        public static long[] Of(params long[] limbs)
        {
            var result = new long[Limbs];
            Array.Copy(limbs, result, limbs.Length);
            return result;
        }

        public static long[] Copy(long[] a) => (long[])a.Clone();

        /// <summary>Reads 32 bytes, least significant first. The highest bit is ignored.</summary>
        public static long[] Unpack(byte[] bytes)
        {
            var result = new long[Limbs];
            for (var i = 0; i < Limbs; i++)
            {
                result[i] = bytes[2 * i] | ((long)bytes[(2 * i) + 1] << 8);
            }

            result[15] &= 0x7fff;
            return result;
        }

        /// <summary>The number as 32 bytes, below 2^255 - 19.</summary>
        public static byte[] Pack(long[] a)
        {
            var t = Copy(a);
            Carry(t);
            Carry(t);
            Carry(t);
            for (var round = 0; round < 2; round++)
            {
                var m = new long[Limbs];
                m[0] = t[0] - 0xffed;
                for (var i = 1; i < 15; i++)
                {
                    m[i] = t[i] - 0xffff - ((m[i - 1] >> 16) & 1);
                    m[i - 1] &= 0xffff;
                }

                m[15] = t[15] - 0x7fff - ((m[14] >> 16) & 1);
                var borrow = (m[15] >> 16) & 1;
                m[14] &= 0xffff;
                Swap(t, m, 1 - borrow);
            }

            var bytes = new byte[32];
            for (var i = 0; i < Limbs; i++)
            {
                bytes[2 * i] = (byte)t[i];
                bytes[(2 * i) + 1] = (byte)(t[i] >> 8);
            }

            return bytes;
        }

        /// <summary>Exchanges two numbers if the bit is 1.</summary>
        public static void Swap(long[] a, long[] b, long bit)
        {
            var mask = ~(bit - 1);
            for (var i = 0; i < Limbs; i++)
            {
                var difference = mask & (a[i] ^ b[i]);
                a[i] ^= difference;
                b[i] ^= difference;
            }
        }

        public static long[] Add(long[] a, long[] b)
        {
            var result = new long[Limbs];
            for (var i = 0; i < Limbs; i++)
            {
                result[i] = a[i] + b[i];
            }

            return result;
        }

        public static long[] Subtract(long[] a, long[] b)
        {
            var result = new long[Limbs];
            for (var i = 0; i < Limbs; i++)
            {
                result[i] = a[i] - b[i];
            }

            return result;
        }

        public static long[] Multiply(long[] a, long[] b)
        {
            var t = new long[31];
            for (var i = 0; i < Limbs; i++)
            {
                for (var j = 0; j < Limbs; j++)
                {
                    t[i + j] += a[i] * b[j];
                }
            }

            var result = new long[Limbs];
            for (var i = 0; i < 15; i++)
            {
                result[i] = t[i] + (38 * t[i + 16]);
            }

            result[15] = t[15];
            Carry(result);
            Carry(result);
            return result;
        }

        public static long[] Square(long[] a) => Multiply(a, a);

        /// <summary>1 / a, by Fermat's little theorem: a to the power of 2^255 - 21.</summary>
        public static long[] Invert(long[] a)
        {
            var result = Copy(a);
            for (var bit = 253; bit >= 0; bit--)
            {
                result = Square(result);
                if (bit != 2 && bit != 4)
                {
                    result = Multiply(result, a);
                }
            }

            return result;
        }

        /// <summary>a to the power of 2^252 - 3, for square roots.</summary>
        public static long[] Power2523(long[] a)
        {
            var result = Copy(a);
            for (var bit = 250; bit >= 0; bit--)
            {
                result = Square(result);
                if (bit != 1)
                {
                    result = Multiply(result, a);
                }
            }

            return result;
        }

        private static void Carry(long[] a)
        {
            for (var i = 0; i < Limbs; i++)
            {
                a[i] += 1L << 16;
                var carry = a[i] >> 16;
                if (i < 15)
                {
                    a[i + 1] += carry - 1;
                }
                else
                {
                    a[0] += 38 * (carry - 1);
                }

                a[i] -= carry << 16;
            }
        }
    }
}
