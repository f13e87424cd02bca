using System;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Where the client keeps its state between wakes. The app and its background task share one.
    /// <see cref="FileClientStore"/> keeps everything in protected files; <see cref="MemoryClientStore"/> forgets
    /// everything at the end of the process. All members throw <see cref="ClientStoreException"/> only.
    /// </summary>
    public interface IClientStore
    {
        /// <summary>Reads the state: an empty one if there is none, or if it was damaged.</summary>
        Task<ClientState> ReadAsync();

        /// <summary>
        /// Changes the state. It is atomic: no other process sees half of it or changes it in between, and after a
        /// crash it has happened or not. If it throws, nothing has changed.
        /// </summary>
        /// <param name="change">The change; it may run more than once, so it has no other effect.</param>
        Task<T> UpdateAsync<T>(Func<ClientState, T> change);

        /// <summary>Reads the credentials; <c>null</c> if there are none.</summary>
        Task<StoredCredentials> ReadCredentialsAsync();

        /// <summary>Replaces the credentials; <c>null</c> removes them.</summary>
        Task SaveCredentialsAsync(StoredCredentials credentials);

        /// <summary>
        /// Replaces the credentials if they are still the expected ones (<see cref="StoredCredentials.IsSame"/>). It is
        /// atomic, like <see cref="UpdateAsync{T}"/>: a log-out during a refresh of the credentials wins.
        /// </summary>
        /// <param name="expected">What was read; <c>null</c> if there were none.</param>
        /// <param name="replacement">What takes their place; <c>null</c> removes them.</param>
        /// <returns>Whether they were replaced.</returns>
        Task<bool> ReplaceCredentialsAsync(StoredCredentials expected, StoredCredentials replacement);

        /// <summary>Reads the private keys for end-to-end encryption; <c>null</c> if there are none.</summary>
        Task<byte[]> ReadEncryptionKeysAsync();

        /// <summary>
        /// Replaces the private keys for end-to-end encryption, at most 16 KB; <c>null</c> removes them.
        /// </summary>
        Task SaveEncryptionKeysAsync(byte[] keys);

        /// <summary>
        /// Remembers an envelope before its content is shown, and tells whether it may be: not if it was opened under
        /// another notification (<see cref="OpenedEnvelope.FindIn"/>, <see cref="OpenedEnvelope.AppendedTo"/>). It is
        /// atomic, like <see cref="UpdateAsync{T}"/>. A log-out does not end what is remembered.
        /// </summary>
        Task<bool> RememberAsync(OpenedEnvelope opened);

        /// <summary>
        /// Claims the right to show the one notice of this start of the device that says that nothing can be read. It
        /// works while <see cref="ReadAsync"/> throws <see cref="ClientStoreError.Locked"/>, and never throws.
        /// </summary>
        /// <returns>Whether no earlier call since the device started has returned <c>true</c>.</returns>
        Task<bool> ClaimLockedNoticeAsync();
    }

    /// <summary>
    /// A store whose files a backup may bring to another device. Two devices with one installation's ID would take it
    /// from each other.
    /// </summary>
    public interface IDeviceBoundStore
    {
        /// <summary>
        /// A text that is different on every device, and that no backup carries to another one; <c>null</c> if there is
        /// none.
        /// </summary>
        Task<string> ReadDeviceMarkAsync();
    }

    /// <summary>Why a store cannot be used now.</summary>
    public enum ClientStoreError
    {
        /// <summary>The user has not signed in to Windows, so the keys of the data protection are missing.</summary>
        Locked,

        /// <summary>The store cannot be read.</summary>
        Unreadable,

        /// <summary>The store cannot be written: it is full or read-only.</summary>
        Unwritable,

        /// <summary>Another process holds the store for too long.</summary>
        Busy,
    }

    /// <summary>A store cannot be used now.</summary>
    public sealed class ClientStoreException : Exception
    {
        /// <summary>Makes an error.</summary>
        public ClientStoreException(ClientStoreError error)
            : base("The store cannot be used (" + error + ").")
        {
            Error = error;
        }

        /// <summary>The reason.</summary>
        public ClientStoreError Error { get; }
    }
}
