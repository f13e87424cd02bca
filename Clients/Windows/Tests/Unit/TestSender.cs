using System.Linq;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>Encrypts as a sender does (contract, section F). The SDK itself encrypts nothing.</summary>
    public static class TestSender
    {
        private static readonly ManagedCryptography Cryptography = new ManagedCryptography();

        /// <summary>The JSON text of the payload for one device.</summary>
        public static string Seal(string content, string recipient, string device, byte[] publicKey)
        {
            byte[] contentKey = Cryptography.RandomBytes(32), iv = Cryptography.RandomBytes(12);
            byte[] ephemeral = Cryptography.RandomBytes(32), aad = Encoding.UTF8.GetBytes(recipient);
            var enc = Cryptography.X25519PublicKey(ephemeral);
            var shared = Hpke.SharedSecret(
                Cryptography.X25519(ephemeral, publicKey), enc.Concat(publicKey).ToArray());
            var keys = Hpke.Schedule(shared, Encoding.ASCII.GetBytes("securepush-e2e-v1"));
            var sealedKey = AesGcm.Seal(keys.Key, keys.Nonce, contentKey, aad);
            var ct = AesGcm.Seal(contentKey, iv, Encoding.UTF8.GetBytes(content), aad);
            return "{\"e2e\":1,\"keys\":{\"" + device + "\":{\"enc\":\"" + Base64Url.Encode(enc) + "\",\"ct\":\""
                + Base64Url.Encode(sealedKey) + "\"}},\"iv\":\"" + Base64Url.Encode(iv) + "\",\"ct\":\""
                + Base64Url.Encode(ct) + "\"}";
        }
    }
}
