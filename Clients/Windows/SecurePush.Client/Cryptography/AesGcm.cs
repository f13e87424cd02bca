using System;
using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>AES-GCM with nonces of 12 bytes and tags of 16 (NIST SP 800-38D), on the AES of the system.</summary>
    internal static class AesGcm
    {
        private const int Block = 16;

        /// <summary>Decrypts; <c>null</c> if the tag is wrong.</summary>
        public static byte[] Open(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData)
        {
            if (sealedText.Length < Block)
            {
                return null;
            }

            var text = new byte[sealedText.Length - Block];
            Buffer.BlockCopy(sealedText, 0, text, 0, text.Length);
            using (var aes = Cipher(key))
            {
                var tag = Tag(aes, nonce, text, associatedData);
                var difference = 0;
                for (var i = 0; i < Block; i++)
                {
                    difference |= tag[i] ^ sealedText[text.Length + i];
                }

                if (difference != 0)
                {
                    return null;
                }

                ApplyKeyStream(aes, nonce, text);
                return text;
            }
        }

        /// <summary>Encrypts, for the tests: a device seals nothing.</summary>
        internal static byte[] Seal(byte[] key, byte[] nonce, byte[] plainText, byte[] associatedData)
        {
            using (var aes = Cipher(key))
            {
                var result = (byte[])plainText.Clone();
                ApplyKeyStream(aes, nonce, result);
                var tag = Tag(aes, nonce, result, associatedData);
                Array.Resize(ref result, result.Length + Block);
                Buffer.BlockCopy(tag, 0, result, result.Length - Block, Block);
                return result;
            }
        }

        /// <summary>Encrypts single blocks. ECB is the plain cipher, of which GCM makes its own mode.</summary>
        private static ICryptoTransform Cipher(byte[] key)
        {
            using (var aes = Aes.Create())
            {
                aes.Mode = CipherMode.ECB;
                aes.Padding = PaddingMode.None;
                aes.Key = key;
                return aes.CreateEncryptor();
            }
        }

        private static void ApplyKeyStream(ICryptoTransform aes, byte[] nonce, byte[] text)
        {
            var counters = new byte[(text.Length + Block - 1) / Block * Block];
            for (var block = 0; block * Block < counters.Length; block++)
            {
                WriteCounter(counters, block * Block, nonce, (uint)block + 2);
            }

            var stream = Encrypt(aes, counters);
            for (var i = 0; i < text.Length; i++)
            {
                text[i] ^= stream[i];
            }
        }

        private static byte[] Tag(ICryptoTransform aes, byte[] nonce, byte[] cipherText, byte[] associatedData)
        {
            var hash = new GaloisHash(Encrypt(aes, new byte[Block]));
            hash.Add(associatedData);
            hash.Add(cipherText);
            hash.AddLengths(associatedData.Length, cipherText.Length);
            var first = new byte[Block];
            WriteCounter(first, 0, nonce, 1);
            var tag = Encrypt(aes, first);
            hash.ApplyTo(tag);
            return tag;
        }

        private static byte[] Encrypt(ICryptoTransform aes, byte[] blocks)
        {
            var result = new byte[blocks.Length];
            for (var offset = 0; offset < blocks.Length; offset += 4096)
            {
                aes.TransformBlock(blocks, offset, Math.Min(4096, blocks.Length - offset), result, offset);
            }

            return result;
        }

        private static void WriteCounter(byte[] bytes, int offset, byte[] nonce, uint number)
        {
            Buffer.BlockCopy(nonce, 0, bytes, offset, 12);
            bytes[offset + 12] = (byte)(number >> 24);
            bytes[offset + 13] = (byte)(number >> 16);
            bytes[offset + 14] = (byte)(number >> 8);
            bytes[offset + 15] = (byte)number;
        }

        /// <summary>GHASH, bit by bit: slower than tables, and its time depends on no secret.</summary>
        private sealed class GaloisHash
        {
            private readonly ulong keyHigh;
            private readonly ulong keyLow;
            private ulong high;
            private ulong low;

            public GaloisHash(byte[] key)
            {
                keyHigh = Read(key, 0, key.Length);
                keyLow = Read(key, 8, key.Length);
            }

            /// <summary>Adds bytes, padded with zeros to whole blocks.</summary>
            public void Add(byte[] bytes)
            {
                for (var offset = 0; offset < bytes.Length; offset += Block)
                {
                    Add(Read(bytes, offset, bytes.Length), Read(bytes, offset + 8, bytes.Length));
                }
            }

            public void AddLengths(int associatedData, int cipherText) =>
                Add((ulong)associatedData * 8, (ulong)cipherText * 8);

            public void ApplyTo(byte[] block)
            {
                for (var i = 0; i < 8; i++)
                {
                    block[i] ^= (byte)(high >> (56 - (8 * i)));
                    block[i + 8] ^= (byte)(low >> (56 - (8 * i)));
                }
            }

            private static ulong Read(byte[] bytes, int offset, int length)
            {
                ulong value = 0;
                for (var i = offset; i < offset + 8; i++)
                {
                    value = (value << 8) | (i < length ? bytes[i] : 0u);
                }

                return value;
            }

            private void Add(ulong blockHigh, ulong blockLow)
            {
                ulong xHigh = high ^ blockHigh, xLow = low ^ blockLow;
                ulong vHigh = keyHigh, vLow = keyLow;
                ulong zHigh = 0, zLow = 0;
                for (var i = 0; i < 128; i++)
                {
                    var bit = i < 64 ? (xHigh >> (63 - i)) & 1 : (xLow >> (127 - i)) & 1;
                    var mask = 0UL - bit;
                    zHigh ^= vHigh & mask;
                    zLow ^= vLow & mask;
                    var carry = 0UL - (vLow & 1);
                    vLow = (vLow >> 1) | (vHigh << 63);
                    vHigh = (vHigh >> 1) ^ (carry & 0xe100000000000000UL);
                }

                high = zHigh;
                low = zLow;
            }
        }
    }
}
