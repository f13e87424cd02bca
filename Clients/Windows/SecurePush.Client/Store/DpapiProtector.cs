using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Encrypts by the data protection of Windows (DPAPI, <c>CryptProtectData</c>) for the current user, on this
    /// device. On mono, the runtime keeps the user's keys in the home folder.
    /// </summary>
    public sealed class DpapiProtector : ISecretProtector
    {
        private static readonly byte[] Purpose = Encoding.ASCII.GetBytes("SecurePush");

        /// <inheritdoc/>
        public Task<byte[]> ProtectAsync(byte[] plain)
        {
            try
            {
                return Task.FromResult(ProtectedData.Protect(plain, Purpose, DataProtectionScope.CurrentUser));
            }
            catch (CryptographicException error)
            {
                // Locked: the profile with the user's keys is not loaded.
                throw new ClientStoreException(
                    DataProtectionErrors.IsLocked(error) ? ClientStoreError.Locked : ClientStoreError.Unwritable);
            }
        }

        /// <inheritdoc/>
        public Task<byte[]> UnprotectAsync(byte[] sealedData)
        {
            try
            {
                return Task.FromResult(ProtectedData.Unprotect(sealedData, Purpose, DataProtectionScope.CurrentUser));
            }
            catch (CryptographicException error)
            {
                DataProtectionErrors.ThrowUnlessDamaged(error);
                return Task.FromResult<byte[]>(null);
            }
        }
    }
}
