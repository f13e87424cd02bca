using System;
using System.Linq;
using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>
    /// The forms in which CNG takes and gives keys (<c>BCRYPT_ECCKEY_BLOB</c> of bcrypt.h): a magic number, the length
    /// of a coordinate, x, y, and d if it is a private key.
    /// </summary>
    internal static class CngBlob
    {
        /// <summary><c>BCRYPT_ECDH_P256_ALGORITHM</c>.</summary>
        public const string Exchange = "ECDH_P256";

        /// <summary><c>BCRYPT_ECCPUBLIC_BLOB</c>.</summary>
        public const string Public = "ECCPUBLICBLOB";

        /// <summary><c>BCRYPT_ECCPRIVATE_BLOB</c>.</summary>
        public const string Private = "ECCPRIVATEBLOB";

        /// <summary><c>BCRYPT_KDF_RAW_SECRET</c>, since Windows 10.</summary>
        public const string RawSecret = "TRUNCATE";

        /// <summary><c>BCRYPT_ECDH_PUBLIC_P256_MAGIC</c>.</summary>
        public const uint ExchangeMagic = 0x314B4345;

        /// <summary><c>BCRYPT_ECDH_PRIVATE_P256_MAGIC</c>.</summary>
        public const uint PrivateMagic = 0x324B4345;

        /// <summary><c>BCRYPT_ECDSA_PUBLIC_P256_MAGIC</c>.</summary>
        public const uint SignatureMagic = 0x31534345;

        public const int PublicLength = 8 + 64;
        public const int PrivateLength = 8 + 96;

        /// <summary>A public key, or with d a private one.</summary>
        public static byte[] OfPoint(uint magic, byte[] point, byte[] d = null) =>
            LittleEndian(magic).Concat(LittleEndian(32)).Concat(point.Skip(1)).Concat(d ?? new byte[0]).ToArray();

        /// <summary>The public key in a blob, 65 bytes.</summary>
        public static byte[] Point(byte[] blob, int length)
        {
            if (length < PublicLength || BitConverter.ToUInt32(blob, 4) != 32)
            {
                throw new CryptographicException("The key is not of P-256.");
            }

            return new byte[] { 4 }.Concat(blob.Skip(8).Take(64)).ToArray();
        }

        /// <summary>The raw secret, which CNG gives in little-endian order.</summary>
        public static byte[] Shared(byte[] secret, int length)
        {
            if (length != 32)
            {
                throw new CryptographicException("The shared secret is not of P-256.");
            }

            Array.Reverse(secret);
            return secret;
        }

        private static byte[] LittleEndian(uint value) =>
            new[] { (byte)value, (byte)(value >> 8), (byte)(value >> 16), (byte)(value >> 24) };
    }
}
