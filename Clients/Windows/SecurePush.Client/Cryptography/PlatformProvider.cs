using System;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace SecurePush
{
    /// <summary>
    /// Keys in the TPM, by the platform provider of CNG (<c>ncrypt.dll</c>), for the current user. The classes of .NET
    /// cannot be used for the exchange: they give the other key to the software provider (dotnet/runtime, issue 71009).
    /// </summary>
    internal static class PlatformProvider
    {
        private const string Name = "Microsoft Platform Crypto Provider";
        private const string Library = "ncrypt.dll";

        /// <summary><c>NCRYPT_SILENT_FLAG</c>: a background task has no window to ask in.</summary>
        private const int Silent = 0x40;

        /// <summary><c>NTE_BAD_KEYSET</c> and <c>NTE_NOT_FOUND</c> of winerror.h: there is no such key.</summary>
        private const int BadKeySet = unchecked((int)0x80090016);
        private const int NotFound = unchecked((int)0x80090011);

        /// <summary>Makes a key, and returns its public half.</summary>
        public static byte[] Make(string name) => With(provider =>
        {
            Check(NCryptCreatePersistedKey(provider, out var key, CngBlob.Exchange, name, 0, 0));
            try
            {
                Check(NCryptFinalizeKey(key, Silent));
                var blob = new byte[CngBlob.PublicLength];
                Check(NCryptExportKey(
                    key, IntPtr.Zero, CngBlob.Public, IntPtr.Zero, blob, blob.Length, out var length, Silent));
                return CngBlob.Point(blob, length);
            }
            finally
            {
                NCryptFreeObject(key);
            }
        });

        /// <summary>The shared x-coordinate; <c>null</c> if there is no such key.</summary>
        public static byte[] Agree(string name, byte[] point) => With(provider =>
        {
            var error = NCryptOpenKey(provider, out var key, name, 0, Silent);
            if (error == BadKeySet || error == NotFound)
            {
                return null;
            }

            Check(error);
            IntPtr other = IntPtr.Zero, secret = IntPtr.Zero;
            try
            {
                var blob = CngBlob.OfPoint(CngBlob.ExchangeMagic, point);
                Check(NCryptImportKey(
                    provider, IntPtr.Zero, CngBlob.Public, IntPtr.Zero, out other, blob, blob.Length, 0));
                Check(NCryptSecretAgreement(key, other, out secret, 0));
                var shared = new byte[32];
                Check(NCryptDeriveKey(
                    secret, CngBlob.RawSecret, IntPtr.Zero, shared, shared.Length, out var length, 0));
                return CngBlob.Shared(shared, length);
            }
            finally
            {
                Free(secret);
                Free(other);
                Free(key);
            }
        });

        /// <summary>Removes a key, if it is there.</summary>
        public static void Remove(string name) => With(provider =>
        {
            var error = NCryptOpenKey(provider, out var key, name, 0, Silent);
            if (error != BadKeySet && error != NotFound)
            {
                Check(error);

                // It frees the handle, too.
                Check(NCryptDeleteKey(key, Silent));
            }

            return true;
        });

        private static T With<T>(Func<IntPtr, T> work)
        {
            Check(NCryptOpenStorageProvider(out var provider, Name, 0));
            try
            {
                return work(provider);
            }
            finally
            {
                NCryptFreeObject(provider);
            }
        }

        private static void Free(IntPtr handle)
        {
            if (handle != IntPtr.Zero)
            {
                NCryptFreeObject(handle);
            }
        }

        private static void Check(int error)
        {
            if (error != 0)
            {
                throw new CryptographicException(error);
            }
        }

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int NCryptOpenStorageProvider(out IntPtr provider, string name, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int NCryptCreatePersistedKey(
            IntPtr provider, out IntPtr key, string algorithm, string name, int legacySpec, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int NCryptFinalizeKey(IntPtr key, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int NCryptOpenKey(
            IntPtr provider, out IntPtr key, string name, int legacySpec, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int NCryptExportKey(
            IntPtr key, IntPtr exportKey, string type, IntPtr parameters, [Out] byte[] output, int size,
            out int length, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int NCryptImportKey(
            IntPtr provider, IntPtr importKey, string type, IntPtr parameters, out IntPtr key, byte[] blob, int size,
            int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int NCryptSecretAgreement(IntPtr key, IntPtr other, out IntPtr secret, int flags);

        [DllImport(Library, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int NCryptDeriveKey(
            IntPtr secret, string function, IntPtr parameters, [Out] byte[] output, int size, out int length,
            int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int NCryptDeleteKey(IntPtr key, int flags);

        [DllImport(Library, ExactSpelling = true)]
        private static extern int NCryptFreeObject(IntPtr handle);
    }
}
