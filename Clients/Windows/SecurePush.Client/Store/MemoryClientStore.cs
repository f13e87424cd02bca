using System;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>A store that forgets everything at the end of the process, for tools and tests.</summary>
    public sealed class MemoryClientStore : IClientStore
    {
        private readonly object guard = new object();
        private ClientState state = new ClientState();
        private StoredCredentials credentials;
        private byte[] encryptionKeys;
        private byte[] openedEnvelopes;
        private bool hasNoticed;

        /// <inheritdoc/>
        public Task<ClientState> ReadAsync()
        {
            lock (guard)
            {
                return Task.FromResult(state.Clone());
            }
        }

        /// <inheritdoc/>
        public Task<T> UpdateAsync<T>(Func<ClientState, T> change)
        {
            lock (guard)
            {
                var next = state.Clone();
                var result = change(next);
                state = next;
                return Task.FromResult(result);
            }
        }

        /// <inheritdoc/>
        public Task<StoredCredentials> ReadCredentialsAsync() => Task.FromResult(credentials);

        /// <inheritdoc/>
        public Task SaveCredentialsAsync(StoredCredentials credentials)
        {
            lock (guard)
            {
                this.credentials = credentials;
                return Task.FromResult(true);
            }
        }

        /// <inheritdoc/>
        public Task<bool> ReplaceCredentialsAsync(StoredCredentials expected, StoredCredentials replacement)
        {
            lock (guard)
            {
                var isSame = StoredCredentials.IsSame(credentials, expected);
                credentials = isSame ? replacement : credentials;
                return Task.FromResult(isSame);
            }
        }

        /// <inheritdoc/>
        public Task<byte[]> ReadEncryptionKeysAsync() => Task.FromResult(encryptionKeys);

        /// <inheritdoc/>
        public Task SaveEncryptionKeysAsync(byte[] keys)
        {
            encryptionKeys = keys;
            return Task.FromResult(true);
        }

        /// <inheritdoc/>
        public Task<bool> RememberAsync(OpenedEnvelope opened)
        {
            lock (guard)
            {
                var known = opened.FindIn(openedEnvelopes);
                openedEnvelopes = known == null ? opened.AppendedTo(openedEnvelopes) : openedEnvelopes;
                return Task.FromResult(known != false);
            }
        }

        /// <inheritdoc/>
        public Task<bool> ClaimLockedNoticeAsync()
        {
            lock (guard)
            {
                var isFirst = !hasNoticed;
                hasNoticed = true;
                return Task.FromResult(isFirst);
            }
        }
    }
}
