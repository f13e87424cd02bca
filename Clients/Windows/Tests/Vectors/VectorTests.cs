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
        /// <summary>A set without a point of the curve, in place of one that cannot be read.</summary>
        private static readonly PublicKeySet Unusable = PublicKeySet.FromStored(new[] { new byte[65] });
        private IClientCryptography cryptography = new LibCrypto();

        /// <summary>OpenSSL, and the SDK's calls of CNG on the stand-in.</summary>
        private static IEnumerable<IClientCryptography> Platforms =>
            new IClientCryptography[] { new LibCrypto(), new PlatformCryptography() };

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

        [TestCaseSource(nameof(Platforms))]
        public void SignaturesAreVerified(IClientCryptography platform)
        {
            cryptography = platform;
            var cases = VectorFile.Cases("signatures.json");
            foreach (var vector in cases)
            {
                var push = VectorFile.Object(vector["push"]);
                var incoming = IncomingPush.FromParts(
                    PushId.From((string)push["id"]), (bool)push["withdraw"], (string)push["timestamp"],
                    (string)push["signature"]);

                // The keys that the client has learned, or the configured ones if it has learned none.
                var keys = Keys(vector["learnedKeys"]) ?? Keys(vector["keys"]);
                var fault = new PushVerifier(cryptography, keys, new ClientLimits().MaxPushAge).Fault(
                    incoming, (string)vector["user"], (double)vector["nowMs"] / 1000);
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

        [TestCaseSource(nameof(Platforms))]
        public void EnvelopesAreOpened(IClientCryptography platform)
        {
            cryptography = platform;
            var cases = VectorFile.Cases("e2e.json");
            foreach (var vector in cases)
            {
                // Only the sender's tests compare the rest.
                var seen = Opened(vector);
                var expected = VectorFile.Object(vector["expect"]);
                new[] { "id", "at", "exp" }.ToList().ForEach(name => expected.Remove(name));
                Check(vector, seen);
            }

            Print("e2e.json", cases.Count);
            Assert.That(cases.Count, Is.GreaterThanOrEqualTo(50));
        }

        /// <summary>Opens a payload with a client, whose store has what the case says.</summary>
        private Dictionary<string, object> Opened(Dictionary<string, object> vector)
        {
            var store = new MemoryClientStore();
            var clock = new SimulatedClock();
            clock.DateOffset = ((double)vector["nowMs"] / 1000) - clock.Uptime;
            var pairs = VectorFile.List(vector["privateKeys"]).Select(Pair).ToList();
            var keys = pairs.Count == 0 ? null : EncryptionKeys.Of(pairs.Last(), 0);
            foreach (var pair in pairs.AsEnumerable().Reverse().Skip(1))
            {
                keys = keys.With(pair, 0, new List<byte[]>());
            }

            store.SaveEncryptionKeysAsync(keys?.Encode()).Wait();
            store.UpdateAsync(state =>
            {
                state.Owner = (string)vector["recipient"];
                state.Registration = new RegistrationRecord((string)vector["device"]);
                return true;
            }).Wait();
            foreach (var opened in VectorFile.List(vector["opened"]).Select(VectorFile.Object))
            {
                var id = PushId.From((string)opened["notification"]);
                store.RememberAsync(new OpenedEnvelope(Guid.Parse((string)opened["id"]), id, 0)).Wait();
            }

            var configuration = new SecurePushConfiguration(SimulatedServer.Url)
            {
                RequiresEncryption = (bool)vector["requiresEncryption"],
                SenderKeys = vector["senderKeys"] == null ? null : Keys(vector["senderKeys"]) ?? Unusable,
            };
            var client = new SecurePushClient(
                configuration, null, store, null, null, clock, cryptography);
            var payload = (string)vector["payload"];
            var notification = PushId.From((string)vector["notification"]);
            try
            {
                var closed = new SecretNotification(notification, null, payload);
                var secret = client.OpenAsync(closed).GetAwaiter().GetResult();
                return Members(secret, payload);
            }
            catch (SecurePushException error)
            {
                return new Dictionary<string, object> { { "opened", false }, { "reason", error.Code.ToString() } };
            }
        }

        private static EncryptionKeyPair Pair(object jwk) =>
            LibCrypto.Pair(Base64Url.Decode((string)VectorFile.Object(jwk)["d"]));

        private static Dictionary<string, object> Members(SecretNotification secret, string payload)
        {
            var message = secret.Message;
            var actions = message?.Actions.Select(action => (object)new Dictionary<string, object>
            {
                { "Id", action.Id }, { "Title", action.Title }, { "Input", action.TakesText },
            }).ToList();
            return new Dictionary<string, object>
            {
                { "opened", true }, { "encrypted", secret.Json != payload.Trim() },
                { "content", secret.Json }, { "text", secret.Text },
                {
                    "message", message == null ? null : new Dictionary<string, object>
                    {
                        { "Title", message.Title }, { "Body", message.Body }, { "Link", message.Link },
                        { "Category", message.Category }, { "Thread", message.Thread },
                        {
                            "Level", message.Level == null ? null
                                : message.Level == MessageLevel.TimeSensitive ? "time-sensitive"
                                : message.Level.ToString().ToLowerInvariant()
                        },
                        { "Actions", actions.Count > 0 || secret.Json.Contains("\"Actions\"") ? actions : null },
                    }
                },
            };
        }

        /// <summary><c>null</c> for a set that cannot be used.</summary>
        private PublicKeySet Keys(object jwkSet)
        {
            try
            {
                var bytes = jwkSet is string text ? Encoding.UTF8.GetBytes(text) : VectorFile.Bytes(jwkSet);
                return jwkSet == null ? null : PublicKeySet.FromJwkSet(bytes).OnCurve(cryptography);
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
