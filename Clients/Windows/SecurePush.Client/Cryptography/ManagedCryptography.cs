using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>
    /// Ed25519, X25519 and AES-GCM in plain C#, with SHA-512 and AES of the system. Debian has no library for mono with
    /// them. The tests compare it with the vectors of RFC 8032, RFC 7748, RFC 9180 and of GCM's specification.
    /// </summary>
    public sealed class ManagedCryptography : IClientCryptography
    {
        private static readonly byte[] BasePoint = { 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

        /// <inheritdoc/>
        public bool VerifyEd25519(byte[] publicKey, byte[] message, byte[] signature) =>
            Ed25519.Verify(publicKey, message, signature);

        /// <inheritdoc/>
        public byte[] X25519(byte[] privateKey, byte[] publicKey)
        {
            var secret = Curve25519.Multiply(privateKey, publicKey);
            var bits = 0;
            foreach (var value in secret)
            {
                bits |= value;
            }

            return bits == 0 ? null : secret;
        }

        /// <inheritdoc/>
        public byte[] X25519PublicKey(byte[] privateKey) => Curve25519.Multiply(privateKey, BasePoint);

        /// <inheritdoc/>
        public byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData) =>
            AesGcm.Open(key, nonce, sealedText, associatedData);

        /// <inheritdoc/>
        public byte[] RandomBytes(int count)
        {
            var bytes = new byte[count];
            using (var generator = RandomNumberGenerator.Create())
            {
                generator.GetBytes(bytes);
            }

            return bytes;
        }
    }
}
