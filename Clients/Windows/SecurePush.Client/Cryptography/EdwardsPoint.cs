using System;
using System.Numerics;

namespace SecurePush
{
    /// <summary>A point in extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z.</summary>
    internal sealed class EdwardsPoint
    {
        /// <summary>The prime of the field.</summary>
        private static readonly BigInteger Prime = BigInteger.Pow(2, 255) - 19;

        private static readonly long[] D = Constant(Modular(-121665 * Inverse(121666)));
        private static readonly long[] D2 = FieldElement.Add(D, D);
        private static readonly long[] RootOfMinusOne = Constant(BigInteger.ModPow(2, (Prime - 1) / 4, Prime));

        /// <summary>The generator of the group (RFC 8032, section 5.1).</summary>
        public static readonly EdwardsPoint Base = Unpack(Little(Modular(4 * Inverse(5))));

        private readonly long[] x;
        private readonly long[] y;
        private readonly long[] z;
        private readonly long[] t;

        private EdwardsPoint(long[] x, long[] y, long[] z, long[] t)
        {
            this.x = x;
            this.y = y;
            this.z = z;
            this.t = t;
        }

        /// <summary>Reads a point (RFC 8032, section 5.1.3); <c>null</c> if it is none.</summary>
        public static EdwardsPoint Unpack(byte[] bytes)
        {
            var sign = bytes[31] >> 7;
            var y = FieldElement.Unpack(bytes);
            var canonical = FieldElement.Pack(y);
            for (var i = 0; i < 32; i++)
            {
                if (canonical[i] != (i < 31 ? bytes[i] : bytes[i] & 0x7f))
                {
                    return null;
                }
            }

            var one = FieldElement.One();
            var y2 = FieldElement.Square(y);
            var u = FieldElement.Subtract(y2, one);
            var v = FieldElement.Add(FieldElement.Multiply(y2, D), one);
            var v3 = FieldElement.Multiply(FieldElement.Square(v), v);
            var v7 = FieldElement.Multiply(FieldElement.Square(v3), v);
            var root = FieldElement.Multiply(
                FieldElement.Multiply(u, v3), FieldElement.Power2523(FieldElement.Multiply(u, v7)));
            var check = FieldElement.Multiply(v, FieldElement.Square(root));
            if (!AreEqual(check, u))
            {
                root = FieldElement.Multiply(root, RootOfMinusOne);
                check = FieldElement.Multiply(v, FieldElement.Square(root));
                if (!AreEqual(check, u))
                {
                    return null;
                }
            }

            var packed = FieldElement.Pack(root);
            if (sign == 1 && Array.TrueForAll(packed, value => value == 0))
            {
                return null;
            }

            var x = (packed[0] & 1) == sign ? root : FieldElement.Subtract(FieldElement.Zero(), root);
            return new EdwardsPoint(x, y, one, FieldElement.Multiply(x, y));
        }

        /// <summary>a·p + b·q.</summary>
        public static EdwardsPoint Combine(BigInteger a, EdwardsPoint p, BigInteger b, EdwardsPoint q)
        {
            var both = p.Plus(q);
            byte[] left = Little(a), right = Little(b);
            var result = new EdwardsPoint(
                FieldElement.Zero(), FieldElement.One(), FieldElement.One(), FieldElement.Zero());
            for (var i = 255; i >= 0; i--)
            {
                result = result.Plus(result);
                var bits = ((left[i >> 3] >> (i & 7)) & 1) | (((right[i >> 3] >> (i & 7)) & 1) << 1);
                if (bits != 0)
                {
                    result = result.Plus(bits == 1 ? p : bits == 2 ? q : both);
                }
            }

            return result;
        }

        public EdwardsPoint Negated() =>
            new EdwardsPoint(
                FieldElement.Subtract(FieldElement.Zero(), x), y, z,
                FieldElement.Subtract(FieldElement.Zero(), t));

        public byte[] Pack()
        {
            var inverse = FieldElement.Invert(z);
            var bytes = FieldElement.Pack(FieldElement.Multiply(y, inverse));
            var sign = FieldElement.Pack(FieldElement.Multiply(x, inverse))[0] & 1;
            bytes[31] |= (byte)(sign << 7);
            return bytes;
        }

        /// <summary>The complete addition of RFC 8032, section 5.1.4.</summary>
        private EdwardsPoint Plus(EdwardsPoint other)
        {
            var a = FieldElement.Multiply(FieldElement.Subtract(y, x), FieldElement.Subtract(other.y, other.x));
            var b = FieldElement.Multiply(FieldElement.Add(y, x), FieldElement.Add(other.y, other.x));
            var c = FieldElement.Multiply(FieldElement.Multiply(t, D2), other.t);
            var zz = FieldElement.Multiply(z, other.z);
            var d = FieldElement.Add(zz, zz);
            var e = FieldElement.Subtract(b, a);
            var f = FieldElement.Subtract(d, c);
            var g = FieldElement.Add(d, c);
            var h = FieldElement.Add(b, a);
            return new EdwardsPoint(
                FieldElement.Multiply(e, f), FieldElement.Multiply(g, h), FieldElement.Multiply(f, g),
                FieldElement.Multiply(e, h));
        }

        private static bool AreEqual(long[] a, long[] b)
        {
            byte[] one = FieldElement.Pack(a), other = FieldElement.Pack(b);
            for (var i = 0; i < 32; i++)
            {
                if (one[i] != other[i])
                {
                    return false;
                }
            }

            return true;
        }

        /// <summary>A number as 32 bytes, least significant first.</summary>
        private static byte[] Little(BigInteger number)
        {
            var bytes = number.ToByteArray();
            Array.Resize(ref bytes, 32);
            return bytes;
        }

        private static BigInteger Modular(BigInteger number) => ((number % Prime) + Prime) % Prime;

        private static BigInteger Inverse(BigInteger number) => BigInteger.ModPow(number, Prime - 2, Prime);

        private static long[] Constant(BigInteger number) => FieldElement.Unpack(Little(number));
    }
}
