using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Encrypts what must not be readable in the store's files: the credentials and the key for end-to-end encryption.
    /// <c>DataProtectionProtector</c> is the one for UWP and WinUI, <see cref="DpapiProtector"/> for other apps.
    /// </summary>
    public interface ISecretProtector
    {
        /// <summary>Encrypts for this user on this device.</summary>
        Task<byte[]> ProtectAsync(byte[] plain);

        /// <summary>Decrypts; <c>null</c> if that is impossible for good, for example because it was damaged.</summary>
        /// <exception cref="ClientStoreException">The user has not signed in to Windows.</exception>
        Task<byte[]> UnprotectAsync(byte[] sealedData);
    }
}
