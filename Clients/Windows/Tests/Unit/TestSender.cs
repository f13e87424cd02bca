using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>Encrypts as a sender does (contract, section F). The SDK itself encrypts nothing.</summary>
    public sealed class TestSender
    {
        private readonly EncryptionKeyPair signingKey = LibCrypto.Make();

        /// <summary>The envelope's ID; a new one for each if it is <c>null</c>.</summary>
        public string Id { get; set; }

        /// <summary>When it was made, in seconds since 1970.</summary>
        public long At { get; set; }

        /// <summary>When it expires.</summary>
        public long? ExpiresAt { get; set; }

        public bool Signs { get; set; }

        public string Recipient { get; set; } = SimulatedServer.User;

        /// <summary>What apps are configured with.</summary>
        public PublicKeySet Keys => PublicKeySet.FromJwkSet(Encoding.UTF8.GetBytes(
            "{\"keys\":[" + Encoding.UTF8.GetString(PublicKey.Jwk(signingKey.PublicKey)) + "]}"));

        /// <summary>The JSON text of the payload for one device.</summary>
        /// <param name="content">The JSON text of the content.</param>
        /// <param name="device">The installation.</param>
        /// <param name="publicKey">Its key.</param>
        public string Seal(string content, string device, byte[] publicKey)
        {
            byte[] contentKey = LibCrypto.RandomBytes(32), iv = LibCrypto.RandomBytes(12);
            var name = Encoding.UTF8.GetBytes(Recipient);
            var plain = "{\"id\":\"" + (Id ?? Guid.NewGuid().ToString()) + "\",\"at\":" + At
                + (ExpiresAt == null ? "" : ",\"exp\":" + ExpiresAt) + ",\"content\":" + content + "}";
            var text = LibCrypto.SealAesGcm(contentKey, iv, Encoding.UTF8.GetBytes(plain.PadRight(128)), name);
            byte[] digest;
            using (var hash = SHA256.Create())
            {
                digest = hash.ComputeHash(iv.Concat(text).ToArray());
            }

            var ephemeral = LibCrypto.Make();
            var shared = Hpke.SharedSecret(
                LibCrypto.Agree(ephemeral.PrivateKey.Take(32).ToArray(), publicKey),
                ephemeral.PublicKey.Concat(publicKey).ToArray());
            var keys = Hpke.Schedule(shared, Encoding.ASCII.GetBytes("securepush-e2e-v2"));
            var sealedKey = LibCrypto.SealAesGcm(
                keys.Key, keys.Nonce, contentKey, name.Concat(new byte[1]).Concat(digest).ToArray());
            return "{\"e2e\":2,\"keys\":{\"" + device + "\":{\"enc\":\"" + Base64Url.Encode(ephemeral.PublicKey)
                + "\",\"ct\":\"" + Base64Url.Encode(sealedKey) + "\"}},\"iv\":\"" + Base64Url.Encode(iv)
                + "\",\"ct\":\"" + Base64Url.Encode(text) + "\"" + Signature(digest) + "}";
        }

        private string Signature(byte[] digest)
        {
            if (!Signs)
            {
                return "";
            }

            var hex = string.Concat(digest.Select(value => value.ToString("x2")));
            var signed = Encoding.UTF8.GetBytes("securepush-e2e-v2\n" + Recipient + "\n" + hex + "\n");
            return ",\"from\":\"" + Keys.Keys[0].Id + "\",\"sig\":\""
                + Base64Url.Encode(LibCrypto.Sign(signingKey.PrivateKey.Take(32).ToArray(), signed)) + "\"";
        }
    }
}
