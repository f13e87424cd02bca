using System.Globalization;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// Checks that a push comes from the server: a signature (ECDSA with P-256) over the ID, the user and the time.
    /// </summary>
    internal sealed class PushVerifier
    {
        /// <summary>How far the clock of the server may be ahead, in seconds: a day.</summary>
        private const double MaxAhead = 86400;

        private readonly IClientCryptography cryptography;
        private readonly PublicKeySet keys;
        private readonly double maxAge;

        /// <param name="cryptography">Verifies.</param>
        /// <param name="keys">The server's keys; <c>null</c> if there is none.</param>
        /// <param name="maxAge">The oldest signature, in seconds.</param>
        public PushVerifier(IClientCryptography cryptography, PublicKeySet keys, double maxAge)
        {
            this.cryptography = cryptography;
            this.keys = keys;
            this.maxAge = maxAge;
        }

        /// <summary>Whether a push has a signature of this time. The signature itself is not checked.</summary>
        public bool HasSignature(IncomingPush push, double now) => IsWhole(push) && !IsOutOfTime(push, now);

        /// <summary>Checks a push.</summary>
        /// <param name="push">The push.</param>
        /// <param name="userName">The user of the device.</param>
        /// <param name="now">Seconds since 1970.</param>
        /// <returns><c>null</c> if the push is genuine; otherwise the reason to ignore it.</returns>
        public DiagnosticCode Fault(IncomingPush push, string userName, double now)
        {
            if (!IsWhole(push))
            {
                return DiagnosticCode.BadSignature;
            }

            var signature = Base64Url.Decode(push.Signature);
            var text = SignedText(push.Id.ToString(), userName, push.Timestamp, push.IsWithdrawal);
            if (keys == null || !keys.Keys.Any(key => cryptography.Verify(key.Point, text, signature)))
            {
                return DiagnosticCode.BadSignature;
            }

            return IsOutOfTime(push, now) ? DiagnosticCode.TooOld : null;
        }

        /// <summary>The bytes that the server signs.</summary>
        internal static byte[] SignedText(string id, string userName, string timestamp, bool isWithdrawal) =>
            Encoding.UTF8.GetBytes(
                "securepush-push-v1\n" + id + "\n" + userName + "\n" + timestamp + "\n"
                + (isWithdrawal ? "withdraw\n" : ""));

        private static bool IsWhole(IncomingPush push) =>
            push.Id != null && IsTime(push.Timestamp) && Base64Url.Decode(push.Signature)?.Length == 64;

        private bool IsOutOfTime(IncomingPush push, double now)
        {
            var seconds = double.Parse(push.Timestamp, NumberStyles.None, CultureInfo.InvariantCulture);
            return now - seconds > maxAge || seconds - now > MaxAhead;
        }

        /// <summary>Whether a text is a time: 1 to 12 digits, without a sign and without a zero in front.</summary>
        private static bool IsTime(string text) =>
            text != null && text.Length >= 1 && text.Length <= 12 && text.All(digit => digit >= '0' && digit <= '9')
            && (text[0] != '0' || text.Length == 1);
    }
}
