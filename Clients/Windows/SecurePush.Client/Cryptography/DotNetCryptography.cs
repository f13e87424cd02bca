#if NET8_0_OR_GREATER
using System.Linq;
using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>The classes of .NET 8, on all of its systems.</summary>
    internal static class DotNetCryptography
    {
        public static void Generate(out byte[] number, out byte[] point)
        {
            using (var key = ECDiffieHellman.Create(ECCurve.NamedCurves.nistP256))
            {
                var parameters = key.ExportParameters(true);
                number = parameters.D;
                point = new byte[] { 4 }.Concat(parameters.Q.X).Concat(parameters.Q.Y).ToArray();
            }
        }

        /// <summary>The shared x-coordinate.</summary>
        public static byte[] Agree(byte[] number, byte[] ownPoint, byte[] point)
        {
            using (var key = ECDiffieHellman.Create(Parameters(ownPoint, number)))
            using (var other = ECDiffieHellman.Create(Parameters(point)))
            {
                return key.DeriveRawSecretAgreement(other.PublicKey);
            }
        }

        /// <summary>It throws or returns <c>false</c> if the bytes are no point.</summary>
        public static bool IsPoint(byte[] bytes)
        {
            using (ECDiffieHellman.Create(Parameters(bytes)))
            {
                return true;
            }
        }

        public static bool Verify(byte[] publicKey, byte[] message, byte[] signature)
        {
            using (var key = ECDsa.Create(Parameters(publicKey)))
            {
                return key.VerifyData(
                    message, signature, HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
            }
        }

        public static byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData)
        {
            var length = sealedText.Length - 16;
            var plain = new byte[length];
            using (var cipher = new AesGcm(key, 16))
            {
                try
                {
                    cipher.Decrypt(
                        nonce, sealedText.Take(length).ToArray(), sealedText.Skip(length).ToArray(), plain,
                        associatedData);
                    return plain;
                }
                catch (CryptographicException)
                {
                    return null;
                }
            }
        }

        private static ECParameters Parameters(byte[] point, byte[] number = null) => new ECParameters
        {
            Curve = ECCurve.NamedCurves.nistP256,
            D = number,
            Q = new ECPoint { X = point.Skip(1).Take(32).ToArray(), Y = point.Skip(33).ToArray() },
        };
    }
}
#endif
