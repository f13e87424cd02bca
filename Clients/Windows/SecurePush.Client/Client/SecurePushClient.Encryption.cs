using System.Text;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>End-to-end encryption (contract, section F).</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>
        /// Gives the server the public key of this installation, making a key first if there is none. The store keeps
        /// the private key, which never leaves the device.
        /// </summary>
        private async Task RegisterKeyAsync(string id, double deadline)
        {
            if (!configuration.EncryptsEndToEnd)
            {
                return;
            }

            var privateKey = await store.ReadEncryptionKeyAsync();
            if (privateKey == null || privateKey.Length != 32)
            {
                privateKey = cryptography.RandomBytes(32);
                await store.SaveEncryptionKeyAsync(privateKey);
            }

            var publicKey = cryptography.X25519PublicKey(privateKey);
            var record = (await keeper.ReadAsync()).Registration;
            if (record.KeyDigest == Digest(publicKey))
            {
                return;
            }

            var body = JsonText.Object(
                JsonText.Member("kty", "OKP"), JsonText.Member("crv", "X25519"),
                JsonText.Member("x", Base64Url.Encode(publicKey)));
            (await connection.SendAsync(new RetrievalCall("PUT", "api/devices/" + id + "/key", null, body), deadline))
                .OrThrow();
            await keeper.UpdateAsync(state => state.Registration = new RegistrationRecord(
                id, state.Registration.UserName, state.Registration.Digest, state.Registration.RegisteredAt,
                Digest(publicKey)));
        }

        /// <summary>
        /// Decrypts a secret, if it is encrypted. It throws <see cref="SecurePushException"/> if that is impossible,
        /// and <see cref="ClientStoreException"/> if the key cannot be read now.
        /// </summary>
        private async Task<SecretNotification> OpenAsync(SecretNotification secret)
        {
            if (!Envelope.IsEnvelope(secret.Json))
            {
                return secret;
            }

            var state = await keeper.ReadAsync();
            var privateKey = await store.ReadEncryptionKeyAsync();
            var content = Envelope.Open(
                cryptography, secret.Json, state.Owner, state.Registration.InstallationId, privateKey);
            return Envelope.Secret(secret, content);
        }
    }
}
