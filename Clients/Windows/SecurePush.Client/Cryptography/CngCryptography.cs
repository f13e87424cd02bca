#if !NET8_0_OR_GREATER
using System;
using System.Linq;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>
    /// CNG of Windows 10 and newer (<c>bcrypt.dll</c>), for .NET Standard 2.0, which has neither the exchange nor
    /// AES-GCM.
    /// </summary>
    internal static class CngCryptography
    {
        private const string Library = "bcrypt.dll";

        /// <summary><c>STATUS_INVALID_SIGNATURE</c> and <c>STATUS_AUTH_TAG_MISMATCH</c> of ntstatus.h.</summary>
        private const int InvalidSignature = unchecked((int)0xC000A000);
        private const int TagMismatch = unchecked((int)0xC000A002);

        public static void Generate(out byte[] number, out byte[] point)
        {
            var blob = With(CngBlob.Exchange, algorithm =>
            {
                Check(BCryptGenerateKeyPair(algorithm, out var key, 256, 0));
                try
                {
                    Check(BCryptFinalizeKeyPair(key, 0));
                    var exported = new byte[CngBlob.PrivateLength];
                    Check(BCryptExportKey(
                        key, IntPtr.Zero, CngBlob.Private, exported, exported.Length, out var length, 0));
                    return length == exported.Length ? exported : throw new CryptographicException();
                }
                finally
                {
                    BCryptDestroyKey(key);
                }
            });
            point = CngBlob.Point(blob, blob.Length);
            number = blob.Skip(CngBlob.PublicLength).ToArray();
        }

        /// <summary>The shared x-coordinate.</summary>
        public static byte[] Agree(byte[] number, byte[] ownPoint, byte[] point) =>
            With(CngBlob.Exchange, algorithm =>
            {
                IntPtr key = IntPtr.Zero, other = IntPtr.Zero, secret = IntPtr.Zero;
                try
                {
                    key = Import(
                        algorithm, CngBlob.Private, CngBlob.OfPoint(CngBlob.PrivateMagic, ownPoint, number));
                    other = Import(algorithm, CngBlob.Public, CngBlob.OfPoint(CngBlob.ExchangeMagic, point));
                    Check(BCryptSecretAgreement(key, other, out secret, 0));
                    var shared = new byte[32];
                    Check(BCryptDeriveKey(
                        secret, CngBlob.RawSecret, IntPtr.Zero, shared, shared.Length, out var length, 0));
                    return CngBlob.Shared(shared, length);
                }
                finally
                {
                    if (secret != IntPtr.Zero)
                    {
                        BCryptDestroySecret(secret);
                    }

                    Destroy(other);
                    Destroy(key);
                }
            });

        /// <summary>It throws or returns <c>false</c> if the bytes are no point.</summary>
        public static bool IsPoint(byte[] bytes) => With(CngBlob.Exchange, algorithm =>
        {
            Destroy(Import(algorithm, CngBlob.Public, CngBlob.OfPoint(CngBlob.ExchangeMagic, bytes)));
            return true;
        });

        public static bool Verify(byte[] publicKey, byte[] message, byte[] signature) =>
            With("ECDSA_P256", algorithm =>
            {
                var key = Import(algorithm, CngBlob.Public, CngBlob.OfPoint(CngBlob.SignatureMagic, publicKey));
                try
                {
                    using (var hash = SHA256.Create())
                    {
                        var digest = hash.ComputeHash(message);
                        var error = BCryptVerifySignature(
                            key, IntPtr.Zero, digest, digest.Length, signature, signature.Length, 0);
                        return error == 0 || (error == InvalidSignature ? false : throw Failure(error));
                    }
                }
                finally
                {
                    Destroy(key);
                }
            });

        public static byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData) =>
            With("AES", algorithm =>
            {
                // The size counts the zero at the end.
                const string mode = "ChainingModeGCM";
                Check(BCryptSetProperty(algorithm, "ChainingMode", mode, (mode.Length + 1) * 2, 0));
                Check(BCryptGenerateSymmetricKey(algorithm, out var handle, IntPtr.Zero, 0, key, key.Length, 0));
                try
                {
                    return Open(handle, nonce, sealedText, associatedData);
                }
                finally
                {
                    Destroy(handle);
                }
            });

        private static byte[] Open(IntPtr key, byte[] nonce, byte[] sealedText, byte[] associatedData)
        {
            var length = sealedText.Length - 16;
            var tag = sealedText.Skip(length).ToArray();
            var pins = new[] { nonce, associatedData, tag }
                .Select(bytes => GCHandle.Alloc(bytes, GCHandleType.Pinned)).ToArray();
            try
            {
                var mode = new AuthenticatedMode
                {
                    Size = Marshal.SizeOf(typeof(AuthenticatedMode)), Version = 1,
                    Nonce = pins[0].AddrOfPinnedObject(), NonceSize = nonce.Length,
                    Data = associatedData.Length == 0 ? IntPtr.Zero : pins[1].AddrOfPinnedObject(),
                    DataSize = associatedData.Length,
                    Tag = pins[2].AddrOfPinnedObject(), TagSize = tag.Length,
                };
                var plain = new byte[length];
                var error = BCryptDecrypt(
                    key, sealedText, length, ref mode, IntPtr.Zero, 0, plain, plain.Length, out var count, 0);
                if (error == TagMismatch)
                {
                    return null;
                }

                Check(error);
                return count == length ? plain : throw new CryptographicException();
            }
            finally
            {
                foreach (var pin in pins)
                {
                    pin.Free();
                }
            }
        }

        private static IntPtr Import(IntPtr algorithm, string type, byte[] blob)
        {
            Check(BCryptImportKeyPair(algorithm, IntPtr.Zero, type, out var key, blob, blob.Length, 0));
            return key;
        }

        private static T With<T>(string name, Func<IntPtr, T> work)
        {
            Check(BCryptOpenAlgorithmProvider(out var algorithm, name, null, 0));
            try
            {
                return work(algorithm);
            }
            finally
            {
                BCryptCloseAlgorithmProvider(algorithm, 0);
            }
        }

        private static void Destroy(IntPtr key)
        {
            if (key != IntPtr.Zero)
            {
                BCryptDestroyKey(key);
            }
        }

        private static void Check(int error)
        {
            if (error != 0)
            {
                throw Failure(error);
            }
        }

        private static CryptographicException Failure(int error) => new CryptographicException(error);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int BCryptOpenAlgorithmProvider(
            out IntPtr algorithm, string name, string implementation, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptCloseAlgorithmProvider(IntPtr algorithm, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int BCryptSetProperty(IntPtr handle, string name, string value, int size, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptGenerateKeyPair(IntPtr algorithm, out IntPtr key, int bits, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptFinalizeKeyPair(IntPtr key, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int BCryptExportKey(
            IntPtr key, IntPtr exportKey, string type, [Out] byte[] output, int size, out int length, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int BCryptImportKeyPair(
            IntPtr algorithm, IntPtr importKey, string type, out IntPtr key, byte[] blob, int size, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptDestroyKey(IntPtr key);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptSecretAgreement(IntPtr key, IntPtr other, out IntPtr secret, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int BCryptDeriveKey(
            IntPtr secret, string function, IntPtr parameters, [Out] byte[] output, int size, out int length,
            int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptDestroySecret(IntPtr secret);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptVerifySignature(
            IntPtr key, IntPtr padding, byte[] digest, int digestSize, byte[] signature, int signatureSize, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptGenerateSymmetricKey(
            IntPtr algorithm, out IntPtr key, IntPtr memory, int memorySize, byte[] secret, int secretSize, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int BCryptDecrypt(
            IntPtr key, byte[] input, int inputSize, ref AuthenticatedMode mode, IntPtr iv, int ivSize,
            [Out] byte[] output, int outputSize, out int length, int flags);

        /// <summary><c>BCRYPT_AUTHENTICATED_CIPHER_MODE_INFO</c> of bcrypt.h.</summary>
        [StructLayout(LayoutKind.Sequential)]
        private struct AuthenticatedMode
        {
            public int Size;
            public int Version;
            public IntPtr Nonce;
            public int NonceSize;
            public IntPtr Data;
            public int DataSize;
            public IntPtr Tag;
            public int TagSize;
            public IntPtr MacContext;
            public int MacContextSize;
            public int DataLength;
            public long TextLength;
            public int Flags;
        }
    }
}
#endif
