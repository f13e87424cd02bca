using System;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The registration of a device and of its key for end-to-end encryption.</summary>
    [TestFixture]
    public sealed class RegistrationTests
    {
        private static void Run(Func<SimulatedDevice, Task> body)
        {
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, () => body(device));
        }

        [Test]
        public void ARegistrationIsKeptRenewedAndReplacedWhenItIsGone() => Run(async device =>
        {
            await device.LogInAsync();
            var channel = new PushDevice("https://db5.notify.windows.com/?token=a", new[] { "news" });
            var first = await device.Start().Client.RegisterAsync(channel);
            Assert.That(
                device.Server.Installations[first],
                Is.EqualTo(
                    "{\"installationId\":\"" + first + "\",\"platform\":\"wns\","
                    + "\"pushChannel\":\"https://db5.notify.windows.com/?token=a\",\"tags\":[\"news\"]}"));
            Assert.That(await device.Start().Client.RegisterAsync(channel), Is.EqualTo(first));
            Assert.That(device.Server.Count("PUT /api/installations"), Is.EqualTo(1));
            device.Clock.DateOffset += 8 * 86400;
            Assert.That(await device.Start().Client.RegisterAsync(channel), Is.EqualTo(first));
            Assert.That(device.Server.Count("PUT /api/installations"), Is.EqualTo(2));
            device.Server.GoneInstallations.Add(first);
            var second = await device.Start().Client.RegisterAsync(new PushDevice("https://b.notify.windows.com/"));
            Assert.That(second, Is.Not.EqualTo(first));
            await device.Start().Client.UnregisterAsync();
            Assert.That(device.Server.Installations.ContainsKey(second), Is.False);
            Assert.That(Encoding.UTF8.GetString(device.Disk.State), Is.Not.StringContaining("notify.windows.com"));
        });

        [Test]
        public void AnEncryptedSecretIsOpenedByItsDeviceOnly() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var installation = await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            var jwk = JsonValue.Parse(Encoding.UTF8.GetBytes(device.Server.Keys[installation])).Members();
            var publicKey = Base64Url.Decode(jwk["x"].Text());
            Assert.That(publicKey, Is.EqualTo(new ManagedCryptography().X25519PublicKey(device.Disk.EncryptionKey)));
            var mine = device.Server.Send(
                TestSender.Seal("\"The code is 4711.\"", SimulatedServer.User, installation, publicKey));
            var other = device.Server.Send(TestSender.Seal("\"x\"", SimulatedServer.User, "another", publicKey));
            await app.Client.HandleAsync(device.Push(mine));
            Assert.That(device.Screen.Secrets.Single().Text, Is.EqualTo("The code is 4711."));
            Assert.That(device.Screen.Notices.Single().Code.ToString(), Is.EqualTo("SP-KEY"));

            // It is final, and the same key is registered once.
            await app.Client.HandleAsync(device.Push(other));
            Assert.That(device.Server.Count("GET /api/notifications/" + other), Is.LessThanOrEqualTo(1));
            await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            Assert.That(device.Server.Count("PUT /api/devices"), Is.EqualTo(1));
            await app.Client.UnregisterAsync();
            Assert.That(device.Disk.EncryptionKey, Is.Null);
        });

        [Test]
        public void RegistrationsAtTheSameTimeSendOneRequest() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start();
            var channel = new PushDevice("https://a.notify.windows.com/");
            var ids = await Task.WhenAll(
                Enumerable.Range(0, 5).Select(_ => app.Client.RegisterAsync(channel)).ToList());
            Assert.That(ids.Distinct().Count(), Is.EqualTo(1));
            Assert.That(device.Server.Count("PUT /api/installations"), Is.EqualTo(1));
        });

        /// <summary>
        /// The server forgets the key of an installation that it replaces, for example for another user, and then for
        /// this one again.
        /// </summary>
        [Test]
        public void TheKeyIsRegisteredAfterEachRegistration() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var installation = await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            var key = device.Server.Keys[installation];
            device.Server.Keys.Clear();
            await app.Client.RegisterAsync(new PushDevice("https://b.notify.windows.com/"));
            Assert.That(device.Server.Keys[installation], Is.EqualTo(key));
            device.Server.Keys.Clear();
            device.Clock.DateOffset += 8 * 86400;
            await app.Client.RegisterAsync(new PushDevice("https://b.notify.windows.com/"));
            Assert.That(device.Server.Keys[installation], Is.EqualTo(key));
        });

        [Test]
        public void AKeyThatCannotBeReadNowIsTriedAgain() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var installation = await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            var publicKey = new ManagedCryptography().X25519PublicKey(device.Disk.EncryptionKey);
            var id = device.Server.Send(TestSender.Seal("\"x\"", SimulatedServer.User, installation, publicKey));
            device.Disk.IsKeyUnreadable = true;
            Assert.That((await app.Client.HandleAsync(device.Push(id))).Code.ToString(), Is.EqualTo("SP-KEY"));
            device.Disk.IsKeyUnreadable = false;
            Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EqualTo(new[] { id }));
        });

        [Test]
        public void ADamagedInstallationIdIsReplaced() => Run(async device =>
        {
            await device.LogInAsync();
            var channel = new PushDevice("https://a.notify.windows.com/");
            var first = await device.Start().Client.RegisterAsync(channel);
            var state = Encoding.UTF8.GetString(device.Disk.State);
            device.Disk.State = Encoding.UTF8.GetBytes(state.Replace(first, "../../token?x=#"));
            var second = await device.Start().Client.RegisterAsync(channel);
            Assert.That(Guid.Parse(second).ToString(), Is.EqualTo(second).And.Not.EqualTo(first));
            Assert.That(device.Server.Log.All(line => !line.Contains("token?")));
        });
    }
}
