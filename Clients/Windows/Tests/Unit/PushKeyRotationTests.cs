using System;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The server's keys for pushes change while the app stays closed.</summary>
    [TestFixture]
    public sealed class PushKeyRotationTests
    {
        private static readonly PushSigner Old = Signer(1), New = Signer(2);

        private static PushSigner Signer(byte seed) =>
            new PushSigner(Enumerable.Repeat(seed, 32).ToArray());

        private static string Set(params string[] keys) => "{\"keys\":[" + string.Join(",", keys) + "]}";

        private static string Jwk(PushSigner signer, string member = "") => Jwk(signer.PublicKey, member);

        private static string Jwk(byte[] key, string member = "") =>
            Encoding.UTF8.GetString(PublicKey.Jwk(key)).TrimEnd('}') + member + "}";

        private static void Run(Func<SimulatedDevice, SecurePushClient, Task> body, bool refreshes = true) =>
            SimulatedDevice.Run(async device =>
            {
                await device.LogInAsync();
                var app = device.Start(adjust: configuration =>
                {
                    configuration.PushKeys = Old.Keys;
                    configuration.RefreshesPushKeys = refreshes;
                });
                await body(device, app.Client);
            });

        /// <summary>The code of a push that the server has signed now.</summary>
        private static async Task<string> PushAsync(SimulatedDevice device, SecurePushClient client, PushSigner signer)
        {
            var raw = signer.Raw(device.Server.Send(), device.Clock.UnixTime);
            return (await client.HandleAsync(IncomingPush.FromRaw(raw))).Code?.ToString();
        }

        private static int Refreshes(SimulatedDevice device) => device.Server.Count("GET /api/push-keys");

        [Test]
        public void AGenuinePushMakesTheDeviceLearnTheNextKey() => Run(async (device, client) =>
        {
            device.Server.PushKeys = Set(Jwk(New), Jwk(Old));
            Assert.That(await PushAsync(device, client, Old), Is.Null);
            Assert.That(Refreshes(device), Is.EqualTo(1));
            Assert.That(await PushAsync(device, client, New), Is.Null);

            // The server has removed the old key, and the device notices after an hour.
            device.Server.PushKeys = Set(Jwk(New));
            Assert.That(await PushAsync(device, client, Old), Is.Null);
            Assert.That(Refreshes(device), Is.EqualTo(1));
            device.Clock.DateOffset += 3601;
            Assert.That(await PushAsync(device, client, Old), Is.Null);
            Assert.That(Refreshes(device), Is.EqualTo(2));
            Assert.That(await PushAsync(device, client, Old), Is.EqualTo("SP-SIGNATURE"));
            Assert.That(await PushAsync(device, client, New), Is.Null);
        });

        [Test]
        public void ACatchUpMakesTheDeviceLearnTheNextKey() => Run(async (device, client) =>
        {
            await client.CatchUpAsync();
            device.Clock.DateOffset += 3601;
            device.Server.PushKeys = Set(Jwk(New));
            await client.CatchUpAsync();
            Assert.That(Refreshes(device), Is.EqualTo(2));
            Assert.That(await PushAsync(device, client, New), Is.Null);

            // A clock that went back tells nothing of the age.
            device.Clock.DateOffset -= 86400;
            await client.CatchUpAsync();
            Assert.That(Refreshes(device), Is.EqualTo(3));
        });

        /// <summary>The server's key was stolen, and all others were removed at once.</summary>
        [Test]
        public void APushByAnUnknownKeyMakesTheDeviceAskOnceAnHour() => Run(async (device, client) =>
        {
            await client.CatchUpAsync();
            device.Server.PushKeys = Set(Jwk(New));
            Assert.That(await PushAsync(device, client, New), Is.EqualTo("SP-SIGNATURE"));
            Assert.That(Refreshes(device), Is.EqualTo(1));
            device.Clock.DateOffset += 3601;
            Assert.That(await PushAsync(device, client, New), Is.Null);
            Assert.That(Refreshes(device), Is.EqualTo(2));
            Assert.That(await PushAsync(device, client, Old), Is.EqualTo("SP-SIGNATURE"));

            // Forgeries cause one request in an hour, also while the server does not answer.
            device.Server.PushKeys = null;
            device.Clock.DateOffset += 3601;
            var stranger = Signer(3);
            var requests = device.Server.Log.Count;
            for (var count = 0; count < 5; count++)
            {
                Assert.That(await PushAsync(device, client, stranger), Is.EqualTo("SP-SIGNATURE"));
                var restarted = device.Start(adjust: configuration => configuration.PushKeys = Old.Keys).Client;
                Assert.That(await PushAsync(device, restarted, stranger), Is.EqualTo("SP-SIGNATURE"));
            }

            Assert.That(device.Server.Log.Skip(requests), Is.EqualTo(new[] { "GET /api/push-keys" }));
        });

        [Test]
        public void APushOfTheWrongTimeIsNoReasonToAsk() => Run(async (device, client) =>
        {
            foreach (var seconds in new[] { -29 * 86400, 86402 })
            {
                var raw = Signer(3).Raw(device.Server.Send(), device.Clock.UnixTime + seconds);
                var code = (await client.HandleAsync(IncomingPush.FromRaw(raw))).Code.ToString();
                Assert.That(code, Is.EqualTo("SP-SIGNATURE"));
            }

            await client.HandleAsync(IncomingPush.FromRaw(device.Server.Send().ToString()));
            Assert.That(Refreshes(device), Is.EqualTo(0));
        });

        /// <summary>Private members, no key that can be used, no JSON, too long.</summary>
        [Test]
        public void AnUnusableSetReplacesNothing()
        {
            var sets = new[]
            {
                Set(Jwk(New, ",\"d\":\"AAAA\"")), Set(Jwk(New, ",\"d\":7")), Set(Jwk(New), "{\"k\":\"AAAA\"}"), Set(),
                "", "{}", "<html>", Set(Jwk(New)) + new string(' ', PublicKeySet.MaxBytes),
            };
            foreach (var unusable in sets)
            {
                Run(async (device, client) =>
                {
                    device.Server.PushKeys = unusable;
                    Assert.That(await PushAsync(device, client, Old), Is.Null);
                    Assert.That(await PushAsync(device, client, Old), Is.Null);

                    // It is asked for again at the next wake.
                    Assert.That(Refreshes(device), Is.EqualTo(2), unusable);
                    Assert.That(await PushAsync(device, client, New), Is.EqualTo("SP-SIGNATURE"), unusable);
                });
            }
        }

        [TestCase(302)]
        [TestCase(404)]
        [TestCase(503)]
        public void ARefusalReplacesNothingAndIsNotRepeatedInTheWake(int status) => Run(async (device, client) =>
        {
            device.Server.PushKeys = Set(Jwk(Old));
            await client.CatchUpAsync();
            device.Clock.DateOffset += 3601;
            device.Server.Intercept = request => request.Uri.AbsolutePath.EndsWith("push-keys")
                ? new TransportResponse(status)
                : null;
            var begin = device.Clock.Uptime;
            await client.CatchUpAsync();
            Assert.That(Refreshes(device), Is.EqualTo(2));
            Assert.That(device.Clock.Uptime - begin, Is.LessThan(0.5));
            Assert.That(await PushAsync(device, client, Old), Is.Null);
            Assert.That(Refreshes(device), Is.EqualTo(3));
        });

        [Test]
        public void AServerThatHangsDelaysAWakeForAShortTime() => Run(async (device, client) =>
        {
            var slow = new FaultPlan(
                Fault.All.First(fault => fault.Kind == FaultKind.SlowBody), Stage.Keys, FaultLength.Lasting,
                device.Clock, device.Disk);
            var begin = device.Clock.Uptime;
            await device.Start(faults: slow).Client.CatchUpAsync();
            Assert.That(device.Clock.Uptime - begin, Is.InRange(5, 5.5));
            Assert.That(Refreshes(device), Is.EqualTo(1));
        });

        [Test]
        public void WakesAtTheSameTimeAskOnce() => Run(async (device, client) =>
        {
            await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => client.CatchUpAsync()).ToList());
            Assert.That(Refreshes(device), Is.EqualTo(1));
        });

        [Test]
        public void ADeviceThatDoesNotRefreshKeepsItsKeys() => Run(
            async (device, client) =>
            {
                device.Server.PushKeys = Set(Jwk(New));
                await client.CatchUpAsync();
                Assert.That(Refreshes(device), Is.EqualTo(0));
                Assert.That(await PushAsync(device, client, Old), Is.Null);
            }, refreshes: false);

        [TestCase(17)]
        [TestCase(32)]
        [TestCase(33)]
        public void ASetHasUpTo32Keys(int count)
        {
            var keys = Enumerable.Range(1, count).Select(i => Jwk(Signer((byte)i)));
            var set = PublicKeySet.FromJwkSet(Encoding.UTF8.GetBytes(Set(keys.ToArray()))).OnCurve(new LibCrypto());
            var points = set.Keys.Select(key => key.Point).ToList();
            Assert.That(points, Has.Count.EqualTo(Math.Min(count, 32)));
            Assert.That(PublicKeySet.FromStored(points).Keys.Select(key => key.Point), Is.EqualTo(points));
        }
    }
}
