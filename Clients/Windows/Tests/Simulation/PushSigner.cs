using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>
    /// Signs as the dispatcher does: Ed25519 (RFC 8032, section 5.1.6). The SDK itself signs nothing.
    /// </summary>
    public sealed class PushSigner
    {
        private readonly BigInteger scalar;
        private readonly byte[] prefix;

        /// <summary>Signatures that were made, so that thousands of simulated wakes take seconds.</summary>
        private readonly Dictionary<string, byte[]> made = new Dictionary<string, byte[]>();

        public PushSigner(byte[] seed)
        {
            using (var hash = SHA512.Create())
            {
                var expanded = hash.ComputeHash(seed);
                expanded[0] &= 248;
                expanded[31] = (byte)((expanded[31] & 127) | 64);
                scalar = Ed25519.Number(expanded.Take(32).ToArray());
                prefix = expanded.Skip(32).ToArray();
            }

            PublicKey = Multiply(scalar);
        }

        public byte[] PublicKey { get; }

        public PushKeySet Keys => PushKeySet.FromJwkSet(Encoding.UTF8.GetBytes(JwkSet));

        public string JwkSet =>
            "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\"},{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
            + Base64Url.Encode(PublicKey) + "\"}]}";

        public byte[] Sign(byte[] message)
        {
            var r = Hash(prefix, message) % Ed25519.Order;
            var point = Multiply(r);
            var s = (r + (Hash(point, PublicKey, message) * scalar)) % Ed25519.Order;
            var bytes = s.ToByteArray();
            Array.Resize(ref bytes, 32);
            return point.Concat(bytes).ToArray();
        }

        /// <summary>The content of a raw notification.</summary>
        public string Raw(PushId id, double now, bool isWithdrawal = false, string user = SimulatedServer.User)
        {
            var time = ((long)now).ToString(CultureInfo.InvariantCulture);
            var text = PushVerifier.SignedText(id.ToString(), user, time, isWithdrawal);
            var key = Encoding.UTF8.GetString(text);
            if (!made.TryGetValue(key, out var signature))
            {
                made[key] = signature = Sign(text);
            }

            return id + (isWithdrawal ? " withdraw " : " ") + time + " " + Base64Url.Encode(signature);
        }

        private static byte[] Multiply(BigInteger number) =>
            EdwardsPoint.Combine(number, EdwardsPoint.Base, BigInteger.Zero, EdwardsPoint.Base).Pack();

        private static BigInteger Hash(params byte[][] parts)
        {
            using (var hash = SHA512.Create())
            {
                return Ed25519.Number(hash.ComputeHash(parts.SelectMany(part => part).ToArray()));
            }
        }
    }

    /// <summary>Remembers verifications, so that thousands of simulated wakes take seconds.</summary>
    public sealed class RememberingCryptography : IClientCryptography
    {
        private readonly ManagedCryptography inner = new ManagedCryptography();
        private readonly Dictionary<string, bool> known = new Dictionary<string, bool>();

        public bool VerifyEd25519(byte[] publicKey, byte[] message, byte[] signature)
        {
            var key = Convert.ToBase64String(publicKey.Concat(signature).Concat(message).ToArray());
            if (!known.TryGetValue(key, out var isValid))
            {
                known[key] = isValid = inner.VerifyEd25519(publicKey, message, signature);
            }

            return isValid;
        }

        public byte[] X25519(byte[] privateKey, byte[] publicKey) => inner.X25519(privateKey, publicKey);

        public byte[] X25519PublicKey(byte[] privateKey) => inner.X25519PublicKey(privateKey);

        public byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData) =>
            inner.OpenAesGcm(key, nonce, sealedText, associatedData);

        public byte[] RandomBytes(int count) => inner.RandomBytes(count);
    }
}
