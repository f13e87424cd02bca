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

        /// <summary>Reads the private key for end-to-end encryption, 32 bytes; <c>null</c> if there is none.</summary>
        Task<byte[]> ReadEncryptionKeyAsync();

        /// <summary>Replaces the private key for end-to-end encryption; <c>null</c> removes it.</summary>
        Task SaveEncryptionKeyAsync(byte[] privateKey);

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

    /// <summary>Credentials as they are stored. They do not show in <see cref="ToString"/>.</summary>
    public sealed class StoredCredentials
    {
        /// <summary>Makes credentials.</summary>
        public StoredCredentials(string userName)
        {
            UserName = userName;
        }

        /// <summary>The user.</summary>
        public string UserName { get; }

        /// <summary>
        /// The token for requests; <c>null</c> if there is none, or if the server has refused it.
        /// </summary>
        public string AccessToken { get; set; }

        /// <summary>When the token expires, in seconds since 1970; <c>null</c> if that is not known.</summary>
        public double? ExpiresAt { get; set; }

        /// <summary>The single-use token for the next access token.</summary>
        public string RefreshToken { get; set; }

        /// <summary>The password, only for a server that issues no tokens.</summary>
        public string Password { get; set; }

        /// <summary>
        /// The credentials for requests; <c>null</c> if the user has to log in or the token has to be refreshed.
        /// </summary>
        internal ClientCredentials Current =>
            AccessToken != null ? ClientCredentials.Bearer(AccessToken)
            : Password != null ? ClientCredentials.Basic(UserName, Password) : null;

        /// <inheritdoc/>
        public override string ToString() => "credentials of a user";

        /// <summary>Whether two credentials are the same.</summary>
        internal bool IsSame(StoredCredentials other) =>
            other != null && UserName == other.UserName && AccessToken == other.AccessToken
            && RefreshToken == other.RefreshToken && Password == other.Password;

        /// <summary>
        /// Whether there are credentials that have not expired. Half a minute before its end a token counts as expired.
        /// </summary>
        internal bool IsUsable(double now) =>
            Current != null && (ExpiresAt == null || now < ExpiresAt - 30 || RefreshToken == null);
    }
}
