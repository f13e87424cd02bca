using System;
using System.Numerics;
using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>
    /// Verifies Ed25519 signatures (RFC 8032, section 5.1.7), strictly: the number in the signature is below the
    /// group's order, and the points have their one encoding. Nothing here is secret.
    /// </summary>
    internal static class Ed25519
    {
        /// <summary>The order of the group.</summary>
        internal static readonly BigInteger Order =
            BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493");

        public static bool Verify(byte[] publicKey, byte[] message, byte[] signature)
        {
            if (publicKey == null || publicKey.Length != 32 || signature == null || signature.Length != 64)
            {
                return false;
            }

            var r = Slice(signature, 0);
            var s = Number(Slice(signature, 32));
            var key = EdwardsPoint.Unpack(publicKey);
            if (key == null || s >= Order)
            {
                return false;
            }

            BigInteger k;
            using (var hash = SHA512.Create())
            {
                var input = new byte[64 + message.Length];
                Buffer.BlockCopy(r, 0, input, 0, 32);
                Buffer.BlockCopy(publicKey, 0, input, 32, 32);
                Buffer.BlockCopy(message, 0, input, 64, message.Length);
                k = Number(hash.ComputeHash(input)) % Order;
            }

            // S·B = R + k·A, so R = S·B + k·(-A). Equal encodings are equal points.
            var expected = EdwardsPoint.Combine(s, EdwardsPoint.Base, k, key.Negated()).Pack();
            var difference = 0;
            for (var i = 0; i < 32; i++)
            {
                difference |= expected[i] ^ r[i];
            }

            return difference == 0;
        }

        private static byte[] Slice(byte[] bytes, int start)
        {
            var part = new byte[32];
            Buffer.BlockCopy(bytes, start, part, 0, 32);
            return part;
        }

        /// <summary>The number of bytes, least significant first.</summary>
        internal static BigInteger Number(byte[] little)
        {
            var positive = new byte[little.Length + 1];
            Buffer.BlockCopy(little, 0, positive, 0, little.Length);
            return new BigInteger(positive);
        }
    }
}
