using System;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>The device's storage. It outlives the processes.</summary>
    public sealed class SimulatedDisk
    {
        /// <summary>Coded, as a real store has it, so that what cannot be coded is found.</summary>
        public byte[] State { get; set; }

        public StoredCredentials Credentials { get; set; }

        public byte[] EncryptionKeys { get; set; }

        public byte[] OpenedEnvelopes { get; set; }

        /// <summary>The newest public key; <c>null</c> if there is none.</summary>
        public byte[] PublicKey => SecurePush.EncryptionKeys.Decode(EncryptionKeys)?.Newest.PublicKey;

        /// <summary>Whether the file of the key cannot be read now.</summary>
        public bool IsKeyUnreadable { get; set; }

        public bool HasClaimedLockedNotice { get; set; }

        /// <summary>A damaged state reads as an empty one.</summary>
        public ClientState Read()
        {
            try
            {
                return State == null ? new ClientState() : ClientState.Decode(State);
            }
            catch (FormatException)
            {
                return new ClientState();
            }
        }

        /// <summary>Damages the file of the state.</summary>
        public void Corrupt() => State = new byte[] { (byte)'{', (byte)'"' };
    }

    /// <summary>What goes wrong with a store or a screen.</summary>
    public interface IDeviceFaults
    {
        /// <summary>Throws if a call of the store fails. The task never ends if the call does not.</summary>
        Task StoreAsync(bool writes);

        /// <summary>
        /// Throws if the system refuses to show a secret. The task never ends if the system does not answer.
        /// </summary>
        Task PresentAsync();
    }

    /// <summary>A process's way to the storage.</summary>
    public sealed class SimulatedStore : IClientStore
    {
        private readonly SimulatedDisk disk;
        private readonly SimulatedProcess process;
        private readonly IDeviceFaults faults;

        public SimulatedStore(SimulatedDisk disk, SimulatedProcess process, IDeviceFaults faults)
        {
            this.disk = disk;
            this.process = process;
            this.faults = faults;
        }

        public Task<ClientState> ReadAsync() => Call("read", false, disk.Read);

        public Task<T> UpdateAsync<T>(Func<ClientState, T> change) => Call("update", true, () =>
        {
            var state = disk.Read();
            var result = change(state);
            disk.State = state.Encode();
            return result;
        });

        public Task<StoredCredentials> ReadCredentialsAsync() => Call("credentials", false, () => disk.Credentials);

        public Task SaveCredentialsAsync(StoredCredentials credentials) =>
            Call("save credentials", true, () => disk.Credentials = credentials);

        public Task<bool> ReplaceCredentialsAsync(StoredCredentials expected, StoredCredentials replacement) =>
            Call("replace credentials", true, () =>
            {
                var isSame = StoredCredentials.IsSame(disk.Credentials, expected);
                disk.Credentials = isSame ? replacement : disk.Credentials;
                return isSame;
            });

        public Task<byte[]> ReadEncryptionKeysAsync() => Call(
            "key", false,
            () => disk.IsKeyUnreadable
                ? throw new ClientStoreException(ClientStoreError.Unreadable)
                : disk.EncryptionKeys);

        public Task SaveEncryptionKeysAsync(byte[] keys) =>
            Call("save key", true, () => disk.EncryptionKeys = keys);

        public Task<bool> RememberAsync(OpenedEnvelope opened) => Call("remember", true, () =>
        {
            var known = opened.FindIn(disk.OpenedEnvelopes);
            disk.OpenedEnvelopes = known == null ? opened.AppendedTo(disk.OpenedEnvelopes) : disk.OpenedEnvelopes;
            return known != false;
        });

        public Task<bool> ClaimLockedNoticeAsync() => process.CallAsync("claim locked notice", () =>
        {
            var isFirst = !disk.HasClaimedLockedNotice;
            disk.HasClaimedLockedNotice = true;
            return isFirst;
        });

        private Task<T> Call<T>(string name, bool writes, Func<T> effect) => process.CallAsync(
            name, effect, () => faults.StoreAsync(writes));
    }
}
