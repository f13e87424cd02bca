using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The vectors of single steps.</summary>
    [TestFixture]
    public sealed class VectorTests
    {
        private readonly ManagedCryptography cryptography = new ManagedCryptography();

        [TestCase("pushes.json", "cases", 10)]
        [TestCase("hostile.json", "pushes", 10)]
        public void PushesAreRead(string file, string member, int fewest)
        {
            var cases = VectorFile.Cases(file, member);
            var ours = cases.Where(vector => (string)vector["form"] == "raw").ToList();
            foreach (var vector in ours)
            {
                var push = IncomingPush.FromRaw((string)vector["push"]);
                var seen = push.Id == null
                    ? new Dictionary<string, object> { { "accepted", false }, { "reason", "SP-PUSH" } }
                    : new Dictionary<string, object>
                    {
                        { "accepted", true }, { "id", push.Id.ToString() }, { "timestamp", push.Timestamp },
                        { "signature", push.Signature }, { "withdraw", push.IsWithdrawal },
                    };
                Check(vector, seen);
            }

            Print(file, ours.Count, cases.Count - ours.Count, "are of other platforms");
            Assert.That(ours.Count, Is.GreaterThanOrEqualTo(fewest));
        }

        [Test]
        public void SignaturesAreVerified()
        {
            var cases = VectorFile.Cases("signatures.json");
            foreach (var vector in cases)
            {
                var push = VectorFile.Object(vector["push"]);
                var incoming = IncomingPush.FromParts(
                    PushId.From((string)push["id"]), (bool)push["withdraw"], (string)push["timestamp"],
                    (string)push["signature"]);

                // The keys that the client has learned, or the configured ones if it has learned none.
                var keys = Keys(vector["learnedKeys"]) ?? Keys(vector["keys"]);
                var fault = DiagnosticCode.BadSignature;
                if (keys != null)
                {
                    fault = new PushVerifier(cryptography, keys, new ClientLimits().MaxPushAge).Fault(
                        incoming, (string)vector["user"], (double)vector["nowMs"] / 1000);
                }

                var seen = new Dictionary<string, object> { { "accepted", fault == null } };
                if (fault != null)
                {
                    seen["reason"] = fault.ToString();
                }

                Check(vector, seen);
            }

            Print("signatures.json", cases.Count);
            Assert.That(cases.Count, Is.GreaterThanOrEqualTo(50));
        }

        [Test]
        public void UsersHaveTheirTags()
        {
            var cases = VectorFile.Cases("tags.json");
            foreach (var vector in cases)
            {
                Check(vector, new Dictionary<string, object> { { "tag", UserTag.Of((string)vector["user"]) } });
            }

            Print("tags.json", cases.Count);
            Assert.That(cases.Count, Is.GreaterThanOrEqualTo(30));
        }

        [Test]
        public void EnvelopesAreOpened()
        {
            var cases = VectorFile.Cases("e2e.json");
            foreach (var vector in cases)
            {
                Check(vector, Opened(vector));
            }

            Print("e2e.json", cases.Count);
            Assert.That(cases.Count, Is.GreaterThanOrEqualTo(50));
        }

        private Dictionary<string, object> Opened(Dictionary<string, object> vector)
        {
            var payload = (string)vector["payload"];
            var value = JsonValue.Parse(Encoding.UTF8.GetBytes(payload));
            var secret = new SecretNotification(
                PushId.From("01"), value.IsString ? value.Text() : payload, payload);
            var isEnvelope = Envelope.IsEnvelope(payload);
            try
            {
                if (isEnvelope)
                {
                    var key = vector["privateKey"] == null
                        ? null
                        : Base64Url.Decode((string)VectorFile.Object(vector["privateKey"])["d"]);
                    secret = Envelope.Secret(
                        secret, Envelope.Open(
                            cryptography, payload, (string)vector["recipient"], (string)vector["device"], key));
                }
            }
            catch (SecurePushException error)
            {
                return new Dictionary<string, object> { { "opened", false }, { "reason", error.Code.ToString() } };
            }

            return new Dictionary<string, object>
            {
                { "opened", true }, { "encrypted", isEnvelope }, { "content", secret.Json }, { "text", secret.Text },
            };
        }

        /// <summary><c>null</c> for a set that cannot be used.</summary>
        private static PushKeySet Keys(object jwkSet)
        {
            try
            {
                return jwkSet == null ? null : PushKeySet.FromJwkSet(VectorFile.Bytes(jwkSet));
            }
            catch (FormatException)
            {
                return null;
            }
        }

        private static void Check(Dictionary<string, object> vector, Dictionary<string, object> seen) =>
            Assert.That(
                VectorFile.Canonical(seen), Is.EqualTo(VectorFile.Canonical(vector["expect"])), (string)vector["name"]);

        private static void Print(string file, int cases, int skipped = 0, string reason = "") =>
            Console.WriteLine(
                "Vectors, {0}: {1} cases, {2} skipped{3}.", file, cases, skipped,
                skipped > 0 ? ": they " + reason : "");
    }
}
