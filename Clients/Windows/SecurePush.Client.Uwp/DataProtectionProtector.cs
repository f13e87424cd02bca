using System;
using System.Threading.Tasks;
using Windows.Security.Cryptography;
using Windows.Security.Cryptography.DataProtection;
using Windows.Storage.Streams;

namespace SecurePush.Uwp
{
    /// <summary>
    /// Encrypts by the data protection of Windows (DPAPI) for this user on this device. The password vault is no
    /// alternative: what is in it can roam to the user's other devices, where a single-use refresh token would end the
    /// session.
    /// </summary>
    public sealed class DataProtectionProtector : ISecretProtector
    {
        private const string ThisUser = "LOCAL=user";

        /// <inheritdoc/>
        public async Task<byte[]> ProtectAsync(byte[] plain)
        {
            try
            {
                var provider = new DataProtectionProvider(ThisUser);
                var buffer = CryptographicBuffer.CreateFromByteArray(plain);
                return Bytes(await provider.ProtectAsync(buffer).AsTask().ConfigureAwait(false));
            }
            catch (Exception error)
            {
                throw new ClientStoreException(
                    DataProtectionErrors.IsLocked(error) ? ClientStoreError.Locked : ClientStoreError.Unwritable);
            }
        }

        /// <inheritdoc/>
        public async Task<byte[]> UnprotectAsync(byte[] sealedData)
        {
            try
            {
                var provider = new DataProtectionProvider();
                var buffer = CryptographicBuffer.CreateFromByteArray(sealedData);
                return Bytes(await provider.UnprotectAsync(buffer).AsTask().ConfigureAwait(false));
            }
            catch (Exception error)
            {
                DataProtectionErrors.ThrowUnlessDamaged(error);
                return null;
            }
        }

        private static byte[] Bytes(IBuffer buffer)
        {
            CryptographicBuffer.CopyToByteArray(buffer, out var bytes);
            return bytes;
        }
    }
}
