using System;
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

    /// <summary>Errors of the data protection of Windows.</summary>
    internal static class DataProtectionErrors
    {
        /// <summary>NTE_BAD_KEY_STATE and ERROR_NOT_LOGGED_ON (winerror.h).</summary>
        private const int BadKeyState = unchecked((int)0x8009000B);
        private const int NotLoggedOn = unchecked((int)0x800704DD);

        /// <summary>Whether the profile with the user's keys is not loaded. The data is not damaged then.</summary>
        public static bool IsLocked(Exception error) => error.HResult == BadKeyState || error.HResult == NotLoggedOn;
    }
}
