using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// What the SDK takes from the platform's cryptography: keys and signatures with P-256, and AES-GCM. Hashes and
    /// HMAC are the same classes on every .NET. <see cref="PlatformCryptography"/> is the one of Windows.
    /// A public key is a point in the uncompressed form: 65 bytes, the first is 4 (SEC 1, section 2.3.3).
    /// </summary>
    public interface IClientCryptography
    {
        /// <summary>Makes a key pair for <see cref="AgreeAsync"/>, in secure hardware if there is some.</summary>
        /// <exception cref="System.Exception">The platform makes none.</exception>
        Task<EncryptionKeyPair> MakeKeyAsync();

        /// <summary>
        /// The elliptic curve Diffie-Hellman exchange: the x-coordinate of the shared point, 32 bytes; <c>null</c> if
        /// the public key is no point of the curve, or if the platform does not have the private key any more.
        /// </summary>
        /// <param name="privateKey">As <see cref="EncryptionKeyPair.PrivateKey"/>.</param>
        /// <param name="publicKey">A public key.</param>
        /// <exception cref="System.Exception">The private key cannot be used now.</exception>
        Task<byte[]> AgreeAsync(byte[] privateKey, byte[] publicKey);

        /// <summary>
        /// Removes a private key from the platform; nothing happens if it is not kept there. It may be called again.
        /// </summary>
        Task RemoveKeyAsync(byte[] privateKey);

        /// <summary>Whether bytes are a public key: a point of the curve. It never throws.</summary>
        bool IsPublicKey(byte[] bytes);

        /// <summary>
        /// Verifies an ECDSA signature with P-256 and SHA-256. It never throws; a public key that is none verifies
        /// nothing.
        /// </summary>
        /// <param name="publicKey">A public key.</param>
        /// <param name="message">The message.</param>
        /// <param name="signature">r and s, 32 bytes each (RFC 7518, section 3.4).</param>
        bool Verify(byte[] publicKey, byte[] message, byte[] signature);

        /// <summary>Decrypts AES-GCM (NIST SP 800-38D); <c>null</c> if the tag is wrong.</summary>
        /// <param name="key">16 or 32 bytes.</param>
        /// <param name="nonce">12 bytes.</param>
        /// <param name="sealedText">The ciphertext, with the tag of 16 bytes at its end.</param>
        /// <param name="associatedData">What the tag also covers.</param>
        byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData);
    }

    /// <summary>A key pair of this device. It does not show in <see cref="ToString"/>.</summary>
    public sealed class EncryptionKeyPair
    {
        /// <summary>Makes a pair.</summary>
        public EncryptionKeyPair(byte[] privateKey, byte[] publicKey)
        {
            PrivateKey = privateKey;
            PublicKey = publicKey;
        }

        /// <summary>
        /// The private key, or what the platform finds it by; at most 1,024 bytes that only the same implementation
        /// understands. The store encrypts it.
        /// </summary>
        public byte[] PrivateKey { get; }

        /// <summary>The public key, 65 bytes.</summary>
        public byte[] PublicKey { get; }

        /// <inheritdoc/>
        public override string ToString() => "key pair";
    }
}
