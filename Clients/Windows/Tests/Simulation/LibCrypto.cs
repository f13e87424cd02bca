using System;
using System.Linq;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>
    /// The port's cryptography by OpenSSL 3 (<c>libcrypto</c>), because mono has neither the classes of .NET 8 nor CNG.
    /// Private keys are d and the public key. It also does what only senders and the server do.
    /// </summary>
    public sealed class LibCrypto : IClientCryptography
    {
        private const string Library = "libcrypto.so.3";
        private const int P256 = 415;
        private const int SetTag = 0x11;
        private const int GetTag = 0x10;

        public static EncryptionKeyPair Make()
        {
            var key = NewKey();
            try
            {
                Check(EC_KEY_generate_key(key));
                var d = new byte[32];
                Check(BN_bn2binpad(EC_KEY_get0_private_key(key), d, d.Length));
                return Pair(d);
            }
            finally
            {
                EC_KEY_free(key);
            }
        }

        /// <summary>The pair of a private number of 32 bytes.</summary>
        public static EncryptionKeyPair Pair(byte[] d)
        {
            var point = With(d, null, key => Octets(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key)));
            return new EncryptionKeyPair(d.Concat(point).ToArray(), point);
        }

        public static byte[] Agree(byte[] d, byte[] publicKey) => With(d, null, key =>
        {
            var group = EC_KEY_get0_group(key);
            var other = EC_POINT_new(group);
            try
            {
                var shared = new byte[32];
                return EC_POINT_oct2point(group, other, publicKey, (IntPtr)publicKey.Length, IntPtr.Zero) == 1
                    && ECDH_compute_key(shared, (IntPtr)shared.Length, other, key, IntPtr.Zero) == 32
                    ? shared
                    : null;
            }
            finally
            {
                EC_POINT_free(other);
            }
        });

        /// <summary>Signs with ECDSA and SHA-256: r and s.</summary>
        public static byte[] Sign(byte[] d, byte[] message) => With(d, null, key =>
        {
            var digest = Digest(message);
            var signature = ECDSA_do_sign(digest, digest.Length, key);
            Check(signature == IntPtr.Zero ? 0 : 1);
            var halves = new byte[2][];
            for (var half = 0; half < 2; half++)
            {
                halves[half] = new byte[32];
                var number = half == 0 ? ECDSA_SIG_get0_r(signature) : ECDSA_SIG_get0_s(signature);
                Check(BN_bn2binpad(number, halves[half], 32));
            }

            ECDSA_SIG_free(signature);
            return halves[0].Concat(halves[1]).ToArray();
        });

        public static byte[] SealAesGcm(byte[] key, byte[] nonce, byte[] plain, byte[] associatedData) =>
            AesGcm(key, nonce, plain, associatedData, null);

        public static byte[] RandomBytes(int count)
        {
            var bytes = new byte[count];
            using (var generator = RandomNumberGenerator.Create())
            {
                generator.GetBytes(bytes);
            }

            return bytes;
        }

        public Task<EncryptionKeyPair> MakeKeyAsync() => Task.FromResult(Make());

        public Task<byte[]> AgreeAsync(byte[] privateKey, byte[] publicKey) =>
            Task.FromResult(IsPublicKey(publicKey) ? Agree(privateKey.Take(32).ToArray(), publicKey) : null);

        public Task RemoveKeyAsync(byte[] privateKey) => Task.FromResult(true);

        public bool IsPublicKey(byte[] bytes) =>
            bytes?.Length == 65 && bytes[0] == 4 && With(null, bytes, key => key != IntPtr.Zero);

        public bool Verify(byte[] publicKey, byte[] message, byte[] signature)
        {
            if (!IsPublicKey(publicKey) || message == null || signature?.Length != 64)
            {
                return false;
            }

            return With(null, publicKey, key =>
            {
                var both = ECDSA_SIG_new();
                try
                {
                    var r = BN_bin2bn(signature, 32, IntPtr.Zero);
                    var s = BN_bin2bn(signature.Skip(32).ToArray(), 32, IntPtr.Zero);
                    Check(ECDSA_SIG_set0(both, r, s));
                    var digest = Digest(message);
                    return ECDSA_do_verify(digest, digest.Length, both, key) == 1;
                }
                finally
                {
                    ECDSA_SIG_free(both);
                }
            });
        }

        public byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData)
        {
            var length = sealedText.Length - 16;
            return length < 0 ? null : AesGcm(
                key, nonce, sealedText.Take(length).ToArray(), associatedData, sealedText.Skip(length).ToArray());
        }

        /// <param name="key">16 or 32 bytes.</param>
        /// <param name="nonce">12 bytes.</param>
        /// <param name="input">The text.</param>
        /// <param name="associatedData">What the tag also covers.</param>
        /// <param name="tag">The tag to check; <c>null</c> to encrypt, and to append it.</param>
        private static byte[] AesGcm(byte[] key, byte[] nonce, byte[] input, byte[] associatedData, byte[] tag)
        {
            var context = EVP_CIPHER_CTX_new();
            try
            {
                var cipher = key.Length == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
                Check(EVP_CipherInit_ex(context, cipher, IntPtr.Zero, key, nonce, tag == null ? 1 : 0));
                Check(EVP_CipherUpdate(context, null, out var count, associatedData, associatedData.Length));
                var output = new byte[input.Length];
                Check(EVP_CipherUpdate(context, output, out count, input, input.Length));
                if (tag != null)
                {
                    Check(EVP_CIPHER_CTX_ctrl(context, SetTag, tag.Length, tag));
                    return EVP_CipherFinal_ex(context, new byte[16], out count) == 1 ? output : null;
                }

                tag = new byte[16];
                Check(EVP_CipherFinal_ex(context, new byte[16], out count));
                Check(EVP_CIPHER_CTX_ctrl(context, GetTag, tag.Length, tag));
                return output.Concat(tag).ToArray();
            }
            finally
            {
                EVP_CIPHER_CTX_free(context);
            }
        }

        /// <summary>Works with a key of a private number, or of a point: a zero handle if it is none.</summary>
        private static T With<T>(byte[] d, byte[] point, Func<IntPtr, T> work)
        {
            IntPtr key = NewKey(), own = EC_POINT_new(EC_KEY_get0_group(key)), number = IntPtr.Zero;
            try
            {
                var group = EC_KEY_get0_group(key);
                if (d == null)
                {
                    var isPoint = EC_POINT_oct2point(group, own, point, (IntPtr)point.Length, IntPtr.Zero) == 1
                        && EC_KEY_set_public_key(key, own) == 1;
                    return work(isPoint ? key : IntPtr.Zero);
                }

                number = BN_bin2bn(d, d.Length, IntPtr.Zero);
                Check(EC_POINT_mul(group, own, number, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero));
                Check(EC_KEY_set_private_key(key, number));
                Check(EC_KEY_set_public_key(key, own));
                return work(key);
            }
            finally
            {
                BN_free(number);
                EC_POINT_free(own);
                EC_KEY_free(key);
            }
        }

        private static IntPtr NewKey()
        {
            var key = EC_KEY_new_by_curve_name(P256);
            Check(key == IntPtr.Zero ? 0 : 1);
            return key;
        }

        private static byte[] Octets(IntPtr group, IntPtr point)
        {
            var bytes = new byte[65];
            var length = EC_POINT_point2oct(group, point, 4, bytes, (IntPtr)bytes.Length, IntPtr.Zero);
            Check(length == (IntPtr)65 ? 1 : 0);
            return bytes;
        }

        private static byte[] Digest(byte[] message)
        {
            using (var hash = SHA256.Create())
            {
                return hash.ComputeHash(message);
            }
        }

        private static void Check(int result)
        {
            if (result <= 0)
            {
                throw new CryptographicException("libcrypto refuses.");
            }
        }

        [DllImport(Library)]
        private static extern IntPtr EC_KEY_new_by_curve_name(int curve);

        [DllImport(Library)]
        private static extern int EC_KEY_generate_key(IntPtr key);

        [DllImport(Library)]
        private static extern void EC_KEY_free(IntPtr key);

        [DllImport(Library)]
        private static extern IntPtr EC_KEY_get0_group(IntPtr key);

        [DllImport(Library)]
        private static extern IntPtr EC_KEY_get0_private_key(IntPtr key);

        [DllImport(Library)]
        private static extern IntPtr EC_KEY_get0_public_key(IntPtr key);

        [DllImport(Library)]
        private static extern int EC_KEY_set_private_key(IntPtr key, IntPtr number);

        [DllImport(Library)]
        private static extern int EC_KEY_set_public_key(IntPtr key, IntPtr point);

        [DllImport(Library)]
        private static extern IntPtr EC_POINT_new(IntPtr group);

        [DllImport(Library)]
        private static extern void EC_POINT_free(IntPtr point);

        [DllImport(Library)]
        private static extern int EC_POINT_mul(
            IntPtr group, IntPtr result, IntPtr number, IntPtr point, IntPtr factor, IntPtr context);

        [DllImport(Library)]
        private static extern int EC_POINT_oct2point(
            IntPtr group, IntPtr point, byte[] bytes, IntPtr length, IntPtr context);

        [DllImport(Library)]
        private static extern IntPtr EC_POINT_point2oct(
            IntPtr group, IntPtr point, int form, [Out] byte[] bytes, IntPtr length, IntPtr context);

        [DllImport(Library)]
        private static extern int ECDH_compute_key(
            [Out] byte[] output, IntPtr length, IntPtr point, IntPtr key, IntPtr derivation);

        [DllImport(Library)]
        private static extern IntPtr ECDSA_do_sign(byte[] digest, int length, IntPtr key);

        [DllImport(Library)]
        private static extern int ECDSA_do_verify(byte[] digest, int length, IntPtr signature, IntPtr key);

        [DllImport(Library)]
        private static extern IntPtr ECDSA_SIG_new();

        [DllImport(Library)]
        private static extern void ECDSA_SIG_free(IntPtr signature);

        [DllImport(Library)]
        private static extern int ECDSA_SIG_set0(IntPtr signature, IntPtr r, IntPtr s);

        [DllImport(Library)]
        private static extern IntPtr ECDSA_SIG_get0_r(IntPtr signature);

        [DllImport(Library)]
        private static extern IntPtr ECDSA_SIG_get0_s(IntPtr signature);

        [DllImport(Library)]
        private static extern IntPtr BN_bin2bn(byte[] bytes, int length, IntPtr result);

        [DllImport(Library)]
        private static extern int BN_bn2binpad(IntPtr number, [Out] byte[] bytes, int length);

        [DllImport(Library)]
        private static extern void BN_free(IntPtr number);

        [DllImport(Library)]
        private static extern IntPtr EVP_CIPHER_CTX_new();

        [DllImport(Library)]
        private static extern void EVP_CIPHER_CTX_free(IntPtr context);

        [DllImport(Library)]
        private static extern IntPtr EVP_aes_128_gcm();

        [DllImport(Library)]
        private static extern IntPtr EVP_aes_256_gcm();

        [DllImport(Library)]
        private static extern int EVP_CipherInit_ex(
            IntPtr context, IntPtr cipher, IntPtr engine, byte[] key, byte[] nonce, int encrypts);

        [DllImport(Library)]
        private static extern int EVP_CipherUpdate(
            IntPtr context, [Out] byte[] output, out int count, byte[] input, int length);

        [DllImport(Library)]
        private static extern int EVP_CipherFinal_ex(IntPtr context, [Out] byte[] output, out int count);

        [DllImport(Library)]
        private static extern int EVP_CIPHER_CTX_ctrl(IntPtr context, int type, int length, [In, Out] byte[] data);
    }
}
