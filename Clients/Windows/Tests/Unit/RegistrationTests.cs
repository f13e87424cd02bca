using System;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using NUnit.Framework;
using static SecurePush.Tests.SimulatedDevice;

namespace SecurePush.Tests
{
    /// <summary>The registration of a device and of its key for end-to-end encryption.</summary>
    [TestFixture]
    public sealed class RegistrationTests
    {
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
            var publicKey = PublicKey.FromJwk(jwk).Point;
            Assert.That(publicKey, Is.EqualTo(device.Disk.PublicKey));
            var mine = device.Server.Send(device.Sender.Seal("\"The code is 4711.\"", installation, publicKey));
            var other = device.Server.Send(device.Sender.Seal("\"x\"", "another", publicKey));
            await app.Client.HandleAsync(device.Push(mine));
            Assert.That(device.Screen.Secrets.Single().Text, Is.EqualTo("The code is 4711."));
            Assert.That(device.Screen.Notices.Single().Code.ToString(), Is.EqualTo("SP-KEY"));

            // The generic text is shown once. Each registration sends the same key.
            await app.Client.HandleAsync(device.Push(other));
            Assert.That(device.Screen.Notices, Has.Count.EqualTo(1));
            Assert.That(await app.Client.WaitingAsync(), Is.Empty);
            await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            Assert.That(device.Server.Count("PUT /api/devices"), Is.EqualTo(2));
            Assert.That(
                device.Server.Keys[installation], Is.EqualTo(Encoding.UTF8.GetString(PublicKey.Jwk(publicKey))));
            await app.Client.UnregisterAsync();
            Assert.That(device.Disk.EncryptionKeys, Is.Null);
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
        public void TheKeyIsSentAtEachRegistration() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var installation = await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            var key = device.Server.Keys[installation];
            foreach (var channel in new[] { "https://a.notify.windows.com/", "https://b.notify.windows.com/" })
            {
                device.Server.Keys.Clear();
                await app.Client.RegisterAsync(new PushDevice(channel));
                Assert.That(device.Server.Keys[installation], Is.EqualTo(key), channel);
            }
        });

        [Test]
        public void AKeyThatTheServerHasNeedNotArriveAgain() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var channel = new PushDevice("https://a.notify.windows.com/");
            device.Server.Intercept = request => request.Uri.AbsolutePath.EndsWith("/key")
                ? new TransportResponse(400)
                : null;
            var failure = await FailureAsync(() => app.Client.RegisterAsync(channel));
            device.Server.Intercept = request => null;
            var id = await app.Client.RegisterAsync(channel);
            Assert.That(failure.Code + " " + failure.InstallationId, Is.EqualTo("SP-400 " + id));
            device.Server.Intercept = request => request.Uri.AbsolutePath.EndsWith("/key")
                ? new TransportResponse(400)
                : null;
            await app.Client.RegisterAsync(channel);
            Assert.That(device.Server.Count("PUT /api/installations"), Is.EqualTo(1));
        });

        [Test]
        public void AnInstallationThatTheServerHasNotIsRegisteredAnew() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var channel = new PushDevice("https://a.notify.windows.com/");
            var installation = await app.Client.RegisterAsync(channel);
            device.Server.Installations.Clear();
            device.Server.Intercept = request =>
                request.Uri.AbsolutePath.EndsWith("/key") && device.Server.Installations.Count == 0
                    ? new TransportResponse(404)
                    : null;
            Assert.That(await app.Client.RegisterAsync(channel), Is.EqualTo(installation));
            Assert.That(device.Server.Installations.Keys, Is.EqualTo(new[] { installation }));
        });

        [Test]
        public void AnotherUserGetsAnotherKey() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var channel = new PushDevice("https://a.notify.windows.com/");
            await app.Client.RegisterAsync(channel);
            var key = device.Disk.EncryptionKeys;
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            Assert.That(await CodeAsync(() => app.Client.RegisterAsync(channel)), Is.EqualTo("SP-401"));
            Assert.That(device.Disk.EncryptionKeys, Is.EqualTo(key));
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            device.Server.Intercept = request => request.Method != "PUT" ? null
                : new TransportResponse(request.Uri.AbsolutePath.EndsWith("/key") ? 204 : 200);
            await app.Client.RegisterAsync(channel);
            Assert.That(device.Disk.EncryptionKeys, Is.Not.EqualTo(key));
        });

        private static async Task<string> CodeAsync(Func<Task> work) => (await FailureAsync(work))?.Code.ToString();

        private static async Task<SecurePushException> FailureAsync(Func<Task> work)
        {
            try
            {
                await work();
                return null;
            }
            catch (SecurePushException error)
            {
                return error;
            }
        }

        [Test]
        public void AKeyThatCannotBeReadNowIsTriedAgain() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var installation = await app.Client.RegisterAsync(new PushDevice("https://a.notify.windows.com/"));
            var publicKey = device.Disk.PublicKey;
            var id = device.Server.Send(device.Sender.Seal("\"x\"", installation, publicKey));
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
