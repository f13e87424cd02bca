using System;
using System.Linq;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// A store whose calls end: one that takes too long, or throws anything, is as one that cannot be read or written.
    /// So a wake goes on without the store, and shows the secret.
    /// </summary>
    internal sealed class BoundedStore : IClientStore, IDeviceBoundStore
    {
        /// <summary>Others change the credentials rarely.</summary>
        private const int MaxChanges = 20;

        private readonly IClientStore store;
        private readonly CallLimit limit;

        public BoundedStore(IClientStore store, IClientClock clock)
        {
            this.store = store;
            limit = new CallLimit(clock);
        }

        public Task<ClientState> ReadAsync() => RunAsync(ClientStoreError.Unreadable, store.ReadAsync);

        public Task<T> UpdateAsync<T>(Func<ClientState, T> change) =>
            RunAsync(ClientStoreError.Unwritable, () => store.UpdateAsync(change));

        public Task<StoredCredentials> ReadCredentialsAsync() =>
            RunAsync(ClientStoreError.Unreadable, store.ReadCredentialsAsync);

        public Task SaveCredentialsAsync(StoredCredentials credentials) =>
            RunAsync(ClientStoreError.Unwritable, () => store.SaveCredentialsAsync(credentials));

        public Task<bool> ReplaceCredentialsAsync(StoredCredentials expected, StoredCredentials replacement) =>
            RunAsync(ClientStoreError.Unwritable, () => store.ReplaceCredentialsAsync(expected, replacement));

        public Task<byte[]> ReadEncryptionKeysAsync() =>
            RunAsync(ClientStoreError.Unreadable, store.ReadEncryptionKeysAsync);

        public Task SaveEncryptionKeysAsync(byte[] keys) =>
            RunAsync(ClientStoreError.Unwritable, () => store.SaveEncryptionKeysAsync(keys));

        public Task<bool> RememberAsync(OpenedEnvelope opened) =>
            RunAsync(ClientStoreError.Unwritable, () => store.RememberAsync(opened));

        public Task<string> ReadDeviceMarkAsync() => RunAsync(
            ClientStoreError.Unreadable,
            () => (store as IDeviceBoundStore)?.ReadDeviceMarkAsync() ?? Task.FromResult<string>(null));

        /// <summary>Changes the credentials: again, if somebody else has changed them in between.</summary>
        /// <param name="change">
        /// Makes the new credentials of the stored ones; both may be <c>null</c>. It may run more than once.
        /// </param>
        public async Task<StoredCredentials> ChangeCredentialsAsync(Func<StoredCredentials, StoredCredentials> change)
        {
            for (var count = 0; count < MaxChanges; count++)
            {
                var stored = await ReadCredentialsAsync();
                var changed = change(stored);
                if (StoredCredentials.IsSame(stored, changed) || await ReplaceCredentialsAsync(stored, changed))
                {
                    return changed;
                }
            }

            throw new ClientStoreException(ClientStoreError.Busy);
        }

        /// <summary>Stores a change of a departure, or removes one of which nothing is left to do.</summary>
        public Task ChangeDepartureAsync(string id, Action<Departure> change) => ChangeCredentialsAsync(
            stored => stored?.With(
                stored.Departures.Select(departure => departure.Id == id ? departure.Changed(change) : departure)
                    .Where(departure => !departure.IsDone)));

        /// <summary>Without an answer, the notice is shown once more rather than not at all.</summary>
        public async Task<bool> ClaimLockedNoticeAsync()
        {
            try
            {
                return await RunAsync(ClientStoreError.Unwritable, store.ClaimLockedNoticeAsync);
            }
            catch (ClientStoreException)
            {
                return true;
            }
        }

        private Task RunAsync(ClientStoreError otherwise, Func<Task> work) => RunAsync(otherwise, async () =>
        {
            await work();
            return true;
        });

        private async Task<T> RunAsync<T>(ClientStoreError otherwise, Func<Task<T>> work)
        {
            try
            {
                return await limit.RunAsync(work);
            }
            catch (Exception error) when (!(error is ClientStoreException))
            {
                throw new ClientStoreException(otherwise);
            }
        }
    }
}
