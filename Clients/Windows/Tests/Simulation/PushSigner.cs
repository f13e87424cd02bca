using System.Globalization;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>Signs as the dispatcher does (contract, section A). The SDK itself signs nothing.</summary>
    public sealed class PushSigner
    {
        private readonly byte[] d;

        /// <param name="d">The private number, 32 bytes.</param>
        public PushSigner(byte[] d)
        {
            this.d = d;
            PublicKey = LibCrypto.Pair(d).PublicKey;
        }

        public byte[] PublicKey { get; }

        public PublicKeySet Keys => PublicKeySet.FromJwkSet(Encoding.UTF8.GetBytes(JwkSet));

        public string JwkSet =>
            "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\"},"
            + Encoding.UTF8.GetString(SecurePush.PublicKey.Jwk(PublicKey)) + "]}";

        public byte[] Sign(byte[] message) => LibCrypto.Sign(d, message);

        /// <summary>The content of a raw notification.</summary>
        public string Raw(PushId id, double now, bool isWithdrawal = false, string user = SimulatedServer.User)
        {
            var time = ((long)now).ToString(CultureInfo.InvariantCulture);
            var signature = Sign(PushVerifier.SignedText(id.ToString(), user, time, isWithdrawal));
            return id + (isWithdrawal ? " withdraw " : " ") + time + " " + Base64Url.Encode(signature);
        }
    }
}
