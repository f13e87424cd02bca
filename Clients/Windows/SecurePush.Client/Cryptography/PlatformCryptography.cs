using System;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
#if NET8_0_OR_GREATER
using Software = SecurePush.DotNetCryptography;
#else
using Software = SecurePush.CngCryptography;
#endif

namespace SecurePush
{
    /// <summary>
    /// The cryptography of the platform: the classes of .NET 8, or CNG of Windows 10 where .NET is older. Private keys
    /// are made in the TPM by the platform provider of Windows, if it has one that can be used; otherwise the store
    /// keeps them, encrypted by the data protection.
    /// </summary>
    public sealed class PlatformCryptography : IClientCryptography
    {
        /// <summary>d, and the public key.</summary>
        private const int SoftwareLength = 32 + 65;

        /// <summary>Before the names of keys in hardware, which are shorter than the keys of software.</summary>
        private const string HardwarePrefix = "SecurePush-";

        /// <inheritdoc/>
        public Task<EncryptionKeyPair> MakeKeyAsync() => Task.Run(() => InHardware() ?? InSoftware());

        /// <inheritdoc/>
        public Task<byte[]> AgreeAsync(byte[] privateKey, byte[] publicKey) =>
            Task.Run(() => Agree(privateKey, publicKey));

        /// <inheritdoc/>
        public Task RemoveKeyAsync(byte[] privateKey) => Task.Run(() =>
        {
            if (IsInHardware(privateKey))
            {
                PlatformProvider.Remove(Encoding.ASCII.GetString(privateKey));
            }
        });

        /// <inheritdoc/>
        public bool IsPublicKey(byte[] bytes)
        {
            try
            {
                return HasForm(bytes) && Software.IsPoint(bytes);
            }
            catch (Exception)
            {
                return false;
            }
        }

        /// <inheritdoc/>
        public bool Verify(byte[] publicKey, byte[] message, byte[] signature)
        {
            try
            {
                return HasForm(publicKey) && message != null && signature != null && signature.Length == 64
                    && Software.Verify(publicKey, message, signature);
            }
            catch (Exception)
            {
                // It is no point of the curve.
                return false;
            }
        }

        /// <inheritdoc/>
        public byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData) =>
            sealedText.Length < 16 ? null : Software.OpenAesGcm(key, nonce, sealedText, associatedData);

        private static bool HasForm(byte[] bytes) => bytes != null && bytes.Length == 65 && bytes[0] == 4;

        private static bool IsInHardware(byte[] privateKey) => privateKey.Length != SoftwareLength;

        private byte[] Agree(byte[] privateKey, byte[] publicKey)
        {
            if (!IsPublicKey(publicKey))
            {
                return null;
            }

            return IsInHardware(privateKey)
                ? PlatformProvider.Agree(Encoding.ASCII.GetString(privateKey), publicKey)
                : Software.Agree(privateKey.Take(32).ToArray(), privateKey.Skip(32).ToArray(), publicKey);
        }

        private static EncryptionKeyPair InSoftware()
        {
            Software.Generate(out var number, out var point);
            return new EncryptionKeyPair(number.Concat(point).ToArray(), point);
        }

        /// <summary>
        /// A key in the TPM; <c>null</c> if there is none, or if it fails a trial: not every TPM has the curve, and not
        /// every one gives the shared point.
        /// </summary>
        private static EncryptionKeyPair InHardware()
        {
            var name = HardwarePrefix + Guid.NewGuid().ToString("N");
            try
            {
                var point = PlatformProvider.Make(name);
                Software.Generate(out var number, out var other);
                var expected = Software.Agree(number, other, point);
                if (PlatformProvider.Agree(name, other).SequenceEqual(expected))
                {
                    return new EncryptionKeyPair(Encoding.ASCII.GetBytes(name), point);
                }
            }
            catch (Exception)
            {
                // There is no ncrypt.dll, no TPM, or none that this app may use.
            }

            try
            {
                PlatformProvider.Remove(name);
            }
            catch (Exception)
            {
                // There was none.
            }

            return null;
        }
    }
}
