using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>End-to-end encryption (contract, section F).</content>
    public sealed partial class SecurePushClient
    {
        private PublicKeySet senderKeys;

        /// <summary>The configured keys of senders that are on the curve.</summary>
        private PublicKeySet SenderKeys =>
            senderKeys = senderKeys ?? configuration.SenderKeys.OnCurve(cryptography);

        /// <summary>
        /// The fingerprint of this device's key, 8 groups of 4 hexadecimal digits: for a sender, or the user at another
        /// device, who compares it. <c>null</c> if the device has no key.
        /// </summary>
        /// <exception cref="SecurePushException">The key cannot be read now.</exception>
        public Task<string> EncryptionKeyFingerprintAsync() => Serial(async () =>
        {
            try
            {
                var keys = await EncryptionKeysAsync();
                return keys == null ? null : PublicKey.Fingerprint(keys.Newest.PublicKey);
            }
            catch (ClientStoreException error)
            {
                throw Failure(error);
            }
        });

        /// <summary>
        /// Registers the public key of this device, which the server forgets when it replaces or removes the
        /// installation, or when another user takes it over. The first call for a user makes the key, and a call when
        /// it is a month old makes the next one. The private keys never leave the device.
        /// </summary>
        /// <exception cref="SecurePushException">
        /// The server may not have the key. It has the installation's ID, unless the server does not have the
        /// installation (404) or the user has logged out.
        /// </exception>
        private async Task RegisterKeyAsync(
            string id, string userName, int userChanges, double deadline, CancellationToken cancellation)
        {
            try
            {
                await SendKeyAsync(id, userName, userChanges, deadline, cancellation);
            }
            catch (SecurePushException error) when (
                !error.Code.Equals(DiagnosticCode.Status(404)) && !error.Code.Equals(DiagnosticCode.LoggedOut))
            {
                throw new SecurePushException(error.Code, id);
            }
            catch (ClientStoreException error)
            {
                throw new SecurePushException(Failure(error).Code, id);
            }
        }

        private async Task SendKeyAsync(
            string id, string userName, int userChanges, double deadline, CancellationToken cancellation)
        {
            // Another user's messages are not for the same key. The server has forgotten the former one by now.
            var owner = (await keeper.ReadAsync()).KeyOwner;
            if (owner != userName && (owner != null || configuration.EncryptsEndToEnd))
            {
                await ForgetKeysAsync();
            }

            if (!configuration.EncryptsEndToEnd)
            {
                return;
            }

            var publicKey = (await CurrentKeysAsync()).Newest.PublicKey;
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
                await ForgetKeysAsync();
                throw new SecurePushException(DiagnosticCode.LoggedOut);
            }

            var call = new RetrievalCall("PUT", "api/devices/" + id + "/key", null, PublicKey.Jwk(publicKey))
            {
                Success = 204,
            };
            var outcome = await connection.SendAsync(call, deadline, cancellation);
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

        /// <summary>The device's keys, with a new one if the newest is due.</summary>
        private async Task<EncryptionKeys> CurrentKeysAsync()
        {
            var keys = await EncryptionKeysAsync();
            var now = clock.UnixTime;
            if (keys != null && !keys.IsOld(now))
            {
                return keys;
            }

            EncryptionKeyPair pair;
            try
            {
                pair = await keyLimit.RunAsync(cryptography.MakeKeyAsync);
            }
            catch (Exception)
            {
                throw new SecurePushException(DiagnosticCode.NoKey);
            }

            // Stored before the server gets it: what is sealed for it can be opened from the first moment.
            var removed = new List<byte[]>();
            keys = keys == null ? EncryptionKeys.Of(pair, now) : keys.With(pair, now, removed);
            await store.SaveEncryptionKeysAsync(keys.Encode());
            foreach (var privateKey in removed)
            {
                await Quietly(() => keyLimit.RunAsync(() => cryptography.RemoveKeyAsync(privateKey)));
            }

            return keys;
        }

        /// <summary>Replaces a key that is due when the app does not register, and registers it.</summary>
        private async Task RenewKeyAsync(Wake wake)
        {
            try
            {
                var state = await keeper.ReadAsync();
                var record = state.Registration;
                var isOwn = record.UserName != null && record.UserName == state.KeyOwner;
                var keys = configuration.EncryptsEndToEnd && isOwn
                    ? await EncryptionKeysAsync()
                    : null;
                if (keys != null
                    && (keys.IsOld(clock.UnixTime) || Digest(keys.Newest.PublicKey) != record.KeyDigest))
                {
                    await RegisterKeyAsync(
                        record.InstallationId, record.UserName, wake.UserChanges, wake.Deadline, wake.Cancellation);
                }
            }
            catch (Exception error) when (
                error is SecurePushException || error is ClientStoreException || error is OperationCanceledException)
            {
                // The next wake tries again.
            }
        }

        private async Task<EncryptionKeys> EncryptionKeysAsync() =>
            EncryptionKeys.Decode(await store.ReadEncryptionKeysAsync());

        /// <summary>Removes the device's keys. Messages that were encrypted for them can never be read again.</summary>
        private async Task ForgetKeysAsync()
        {
            // The keys in the hardware go first: only the store has their names.
            await Quietly(async () =>
            {
                var keys = await EncryptionKeysAsync();
                foreach (var pair in keys?.Pairs ?? new EncryptionKeyPair[0])
                {
                    await keyLimit.RunAsync(() => cryptography.RemoveKeyAsync(pair.PrivateKey));
                }
            });
            await store.SaveEncryptionKeysAsync(null);
            await keeper.UpdateAsync(state => state.KeyOwner = null);
        }

        /// <summary>
        /// Reads a secret: decrypts it, if it is encrypted, and remembers its envelope. It throws
        /// <see cref="SecurePushException"/> if it is not to be shown, and <see cref="ClientStoreException"/> if that
        /// cannot be decided now.
        /// </summary>
        internal async Task<SecretNotification> OpenAsync(SecretNotification secret)
        {
            var payload = Envelope.Read(secret.Json);
            var isEncrypted = Envelope.IsEnvelope(payload);
            if (!isEncrypted && configuration.RequiresEncryption)
            {
                throw new SecurePushException(DiagnosticCode.NotEncrypted);
            }

            var opened = isEncrypted ? await OpenAsync(new Envelope(payload), secret) : secret.WithContent(payload);
            return opened.ExpiresAt?.ToUnixTimeSeconds() <= clock.UnixTime
                ? throw new SecurePushException(DiagnosticCode.Expired)
                : opened;
        }

        private async Task<SecretNotification> OpenAsync(Envelope envelope, SecretNotification secret)
        {
            var state = await keeper.ReadAsync();
            if (configuration.SenderKeys != null && !envelope.IsSignedBy(SenderKeys, state.Owner, cryptography))
            {
                throw new SecurePushException(DiagnosticCode.UnknownSender);
            }

            var device = state.Registration.InstallationId;
            var keys = await EncryptionKeysAsync();
            if (keys == null || !envelope.IsFor(device))
            {
                throw new SecurePushException(DiagnosticCode.NoKey);
            }

            var content = await OpenAsync(envelope, state.Owner, device, keys);
            var now = clock.UnixTime;
            if (!content.IsTimely(now)
                || !await store.RememberAsync(new OpenedEnvelope(content.Id, secret.Id, now)))
            {
                throw new SecurePushException(DiagnosticCode.Replayed);
            }

            return secret.WithContent(content.Value, content.ExpiresAt);
        }

        /// <exception cref="ClientStoreException">The platform does not use the key now.</exception>
        private async Task<EnvelopeContent> OpenAsync(
            Envelope envelope, string recipient, string device, EncryptionKeys keys)
        {
            try
            {
                return await keyLimit.RunAsync(() => envelope.OpenAsync(recipient, device, keys.Pairs, cryptography));
            }
            catch (Exception error) when (!(error is SecurePushException))
            {
                throw new ClientStoreException(ClientStoreError.Unreadable);
            }
        }
    }
}
