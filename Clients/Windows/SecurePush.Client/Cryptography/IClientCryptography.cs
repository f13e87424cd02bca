namespace SecurePush
{
    /// <summary>
    /// The algorithms that .NET Standard 2.0 and mono do not have. <see cref="ManagedCryptography"/> is the one that
    /// the SDK brings; an app may use another library, such as BouncyCastle.Cryptography.
    /// </summary>
    public interface IClientCryptography
    {
        /// <summary>Verifies an Ed25519 signature (RFC 8032). It never throws.</summary>
        /// <param name="publicKey">32 bytes.</param>
        /// <param name="message">The message.</param>
        /// <param name="signature">64 bytes.</param>
        bool VerifyEd25519(byte[] publicKey, byte[] message, byte[] signature);

        /// <summary>X25519 (RFC 7748); <c>null</c> if the result is zero.</summary>
        /// <param name="privateKey">32 bytes.</param>
        /// <param name="publicKey">32 bytes.</param>
        byte[] X25519(byte[] privateKey, byte[] publicKey);

        /// <summary>The public key of a private one, 32 bytes each.</summary>
        byte[] X25519PublicKey(byte[] privateKey);

        /// <summary>Decrypts AES-GCM (NIST SP 800-38D); <c>null</c> if the tag is wrong.</summary>
        /// <param name="key">16 or 32 bytes.</param>
        /// <param name="nonce">12 bytes.</param>
        /// <param name="sealedText">The ciphertext, with the tag of 16 bytes at its end.</param>
        /// <param name="associatedData">What the tag also covers.</param>
        byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData);

        /// <summary>Bytes of the system's random source.</summary>
        byte[] RandomBytes(int count);
    }
}
