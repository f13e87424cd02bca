using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Opens single messages of HPKE (RFC 9180) in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and
    /// AES-128-GCM.
    /// </summary>
    internal sealed class Hpke
    {
        private static readonly byte[] Version = Encoding.ASCII.GetBytes("HPKE-v1");
        private static readonly byte[] KemSuite = Ascii("KEM", 0x00, 0x10);
        private static readonly byte[] Suite = Ascii("HPKE", 0x00, 0x10, 0x00, 0x01, 0x00, 0x01);

        private readonly IClientCryptography cryptography;

        public Hpke(IClientCryptography cryptography)
        {
            this.cryptography = cryptography;
        }

        /// <summary>Opens a message; <c>null</c> if it is not for this key, or was changed.</summary>
        /// <param name="key">The receiver's key.</param>
        /// <param name="enc">The sender's ephemeral key, 65 bytes.</param>
        /// <param name="info">The application's text.</param>
        /// <param name="aad">What the tag also covers.</param>
        /// <param name="sealedText">The ciphertext with its tag.</param>
        /// <exception cref="Exception">The key cannot be used now.</exception>
        public async Task<byte[]> OpenAsync(
            EncryptionKeyPair key, byte[] enc, byte[] info, byte[] aad, byte[] sealedText)
        {
            var exchanged = await cryptography.AgreeAsync(key.PrivateKey, enc);
            if (exchanged == null)
            {
                return null;
            }

            var keys = Schedule(SharedSecret(exchanged, Join(enc, key.PublicKey)), info);
            return cryptography.OpenAesGcm(keys.Key, keys.Nonce, sealedText, aad);
        }

        /// <summary>The shared secret of the KEM (section 4.1).</summary>
        internal static byte[] SharedSecret(byte[] exchanged, byte[] context)
        {
            var extracted = LabeledExtract(KemSuite, new byte[0], "eae_prk", exchanged);
            return LabeledExpand(KemSuite, extracted, "shared_secret", context, 32);
        }

        /// <summary>The key and the first nonce (section 5.1).</summary>
        internal static KeyAndNonce Schedule(byte[] sharedSecret, byte[] info)
        {
            var empty = new byte[0];
            var context = Join(
                new byte[] { 0 }, LabeledExtract(Suite, empty, "psk_id_hash", empty),
                LabeledExtract(Suite, empty, "info_hash", info));
            var secret = LabeledExtract(Suite, sharedSecret, "secret", empty);
            return new KeyAndNonce
            {
                Key = LabeledExpand(Suite, secret, "key", context, 16),
                Nonce = LabeledExpand(Suite, secret, "base_nonce", context, 12),
            };
        }

        internal static byte[] Join(params byte[][] parts) => parts.SelectMany(part => part).ToArray();

        private static byte[] Ascii(string text, params byte[] rest) => Join(Encoding.ASCII.GetBytes(text), rest);

        private static byte[] LabeledExtract(byte[] suite, byte[] salt, string label, byte[] input) =>
            Mac(salt, Join(Version, suite, Ascii(label), input));

        /// <summary>HKDF-Expand (RFC 5869) for at most 32 bytes: one round.</summary>
        private static byte[] LabeledExpand(byte[] suite, byte[] key, string label, byte[] info, int length)
        {
            var labeled = Join(
                new byte[] { (byte)(length >> 8), (byte)length }, Version, suite, Ascii(label), info, new byte[] { 1 });
            var output = Mac(key, labeled);
            Array.Resize(ref output, length);
            return output;
        }

        private static byte[] Mac(byte[] key, byte[] message)
        {
            // An empty salt is a block of zeros (RFC 5869), which is the same to HMAC.
            using (var mac = new HMACSHA256(key))
            {
                return mac.ComputeHash(message);
            }
        }

        /// <summary>What encrypts one message.</summary>
        internal struct KeyAndNonce
        {
            public byte[] Key { get; set; }

            public byte[] Nonce { get; set; }
        }
    }
}
