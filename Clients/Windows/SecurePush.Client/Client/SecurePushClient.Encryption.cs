using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>End-to-end encryption (contract, section F).</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>
        /// Registers the public key of this device, which the server forgets when it replaces or removes the
        /// installation, or when another user takes it over. The first call for a user makes the key. The store keeps
        /// the private key, which never leaves the device.
        /// </summary>
        /// <exception cref="SecurePushException">
        /// The server may not have the key. The device is registered then, unless the status is 404.
        /// </exception>
        private async Task RegisterKeyAsync(
            string id, string userName, int userChanges, double deadline, CancellationToken cancellation)
        {
            // Another user's messages are not for the same key. The server has forgotten the former one by now.
            var owner = (await keeper.ReadAsync()).KeyOwner;
            if (owner != userName && (owner != null || configuration.EncryptsEndToEnd))
            {
                await ForgetKeyAsync();
            }

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
            var digest = Digest(publicKey);
            var known = await keeper.UpdateAsync(current =>
            {
                var isSameUser = current.UserChanges <= userChanges;
                current.KeyOwner = isSameUser ? userName : current.KeyOwner;
                return new { isSameUser, digest = current.Registration.KeyDigest };
            });
            if (!known.isSameUser)
            {
                // The user has logged out in the meantime.
                await ForgetKeyAsync();
                throw new SecurePushException(DiagnosticCode.LoggedOut);
            }

            var body = JsonText.Object(
                JsonText.Member("kty", "OKP"), JsonText.Member("crv", "X25519"),
                JsonText.Member("x", Base64Url.Encode(publicKey)));
            var outcome = await connection.SendAsync(
                new RetrievalCall("PUT", "api/devices/" + id + "/key", null, body) { Success = 204 }, deadline,
                cancellation);
            cancellation.ThrowIfCancellationRequested();
            if (outcome.IsSuccess)
            {
                await keeper.UpdateAsync(
                    current => current.Registration = current.Registration.WithKey(digest));
            }
            else if (outcome.Status == 404 || known.digest != digest)
            {
                // Otherwise the server has got it before, and the next call sends it again.
                outcome.OrThrow();
            }
        }

        /// <summary>Removes the device's key. What was encrypted for it can never be read again.</summary>
        private async Task ForgetKeyAsync()
        {
            await store.SaveEncryptionKeyAsync(null);
            await keeper.UpdateAsync(state => state.KeyOwner = null);
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
