using System;
using System.Security.Cryptography;
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
        /// <exception cref="ClientStoreException">
        /// The user has not signed in to Windows, or it is impossible now.
        /// </exception>
        Task<byte[]> UnprotectAsync(byte[] sealedData);
    }

    /// <summary>Errors of the data protection of Windows.</summary>
    internal static class DataProtectionErrors
    {
        /// <summary>NTE_BAD_KEY_STATE and ERROR_NOT_LOGGED_ON (winerror.h).</summary>
        private const int BadKeyState = unchecked((int)0x8009000B);
        private const int NotLoggedOn = unchecked((int)0x800704DD);

        /// <summary>The first of 256 errors of data that is not in the form of <c>LOCAL=user</c> (ASN.1).</summary>
        private const uint Asn1 = 0x80093100;

        /// <summary>CORSEC_E_CRYPTO: all that mono says.</summary>
        private const uint OfMono = 0x80131430;

        /// <summary>
        /// NTE_BAD_KEY, NTE_BAD_DATA, NTE_BAD_SIGNATURE, NTE_DECRYPTION_FAILURE, ERROR_INVALID_DATA and
        /// ERROR_INVALID_PARAMETER (winerror.h).
        /// </summary>
        private static readonly uint[] Damages =
        {
            0x80090003, 0x80090005, 0x80090006, 0x8009002C, 0x8007000D, 0x80070057,
        };

        /// <summary>Whether the profile with the user's keys is not loaded. The data is not damaged then.</summary>
        public static bool IsLocked(Exception error) => error.HResult == BadKeyState || error.HResult == NotLoggedOn;

        /// <summary>Whether the data can never be decrypted. Any other error may pass.</summary>
        public static bool IsDamaged(Exception error)
        {
            var code = unchecked((uint)error.HResult);
            return Array.IndexOf(Damages, code) >= 0 || (code & 0xFFFFFF00) == Asn1
                || (code == OfMono && error.InnerException is CryptographicException);
        }

        /// <exception cref="ClientStoreException">The data is not damaged.</exception>
        public static void ThrowUnlessDamaged(Exception error)
        {
            if (!IsDamaged(error))
            {
                throw new ClientStoreException(
                    IsLocked(error) ? ClientStoreError.Locked : ClientStoreError.Unreadable);
            }
        }
    }
}
