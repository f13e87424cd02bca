using System;

namespace SecurePush
{
    /// <summary>X25519 (RFC 7748, section 5), by the Montgomery ladder.</summary>
    internal static class Curve25519
    {
        private static readonly long[] A24 = FieldElement.Of(0xdb41, 1);

        /// <summary>The product of a private key and a point, 32 bytes each.</summary>
        public static byte[] Multiply(byte[] privateKey, byte[] point)
        {
            if (privateKey == null || privateKey.Length != 32 || point == null || point.Length != 32)
            {
                throw new ArgumentException("A key has 32 bytes.");
            }

            var scalar = (byte[])privateKey.Clone();
            scalar[0] &= 248;
            scalar[31] = (byte)((scalar[31] & 127) | 64);
            var x = FieldElement.Unpack(point);
            long[] a = FieldElement.One(), b = FieldElement.Copy(x), c = FieldElement.Zero(), d = FieldElement.One();
            for (var i = 254; i >= 0; i--)
            {
                long bit = (scalar[i >> 3] >> (i & 7)) & 1;
                FieldElement.Swap(a, b, bit);
                FieldElement.Swap(c, d, bit);
                var e = FieldElement.Add(a, c);
                a = FieldElement.Subtract(a, c);
                c = FieldElement.Add(b, d);
                b = FieldElement.Subtract(b, d);
                d = FieldElement.Square(e);
                var f = FieldElement.Square(a);
                a = FieldElement.Multiply(c, a);
                c = FieldElement.Multiply(b, e);
                e = FieldElement.Add(a, c);
                a = FieldElement.Subtract(a, c);
                b = FieldElement.Square(a);
                c = FieldElement.Subtract(d, f);
                a = FieldElement.Add(FieldElement.Multiply(c, A24), d);
                c = FieldElement.Multiply(c, a);
                a = FieldElement.Multiply(d, f);
                d = FieldElement.Multiply(b, x);
                b = FieldElement.Square(e);
                FieldElement.Swap(a, b, bit);
                FieldElement.Swap(c, d, bit);
            }

            Array.Clear(scalar, 0, scalar.Length);
            return FieldElement.Pack(FieldElement.Multiply(a, FieldElement.Invert(c)));
        }
    }
}
