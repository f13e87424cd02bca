using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The state of one device on another one, as a backup brings it there.</summary>
    [TestFixture]
    public sealed class BackupTests
    {
        private static readonly PushDevice One = new PushDevice("https://a.notify.windows.com/");
        private static readonly PushDevice Other = new PushDevice("https://b.notify.windows.com/");
        private readonly SimulatedServer server = new SimulatedServer();
        private string folder;

        [SetUp]
        public void Begin()
        {
            folder = Path.Combine(Path.GetTempPath(), "sdk-" + Guid.NewGuid());
            server.Installations.Clear();
            server.Log.Clear();
        }

        [TearDown]
        public void RemoveFolder() => Directory.Delete(folder, true);

        /// <summary>
        /// A backup of the folder alone, of the device's mark too under another key, and a copy without a cache.
        /// </summary>
        [TestCase("without the cache")]
        [TestCase("of another user")]
        [TestCase("of an app without a cache")]
        public void ARestoredStateGetsAnIdOfItsOwn(string backup)
        {
            var hasCache = backup != "of an app without a cache";
            var a = Client("a", new Xor(1), hasCache);
            var first = a.RegisterAsync(One).Result;
            Restore("a", "b", backup == "of another user");
            var b = Client("b", new Xor(backup == "of another user" ? (byte)2 : (byte)1), hasCache);
            var second = b.RegisterAsync(Other).Result;
            Assert.That(second, Is.Not.EqualTo(first));
            Assert.That(a.RegisterAsync(One).Result, Is.EqualTo(first));
            Assert.That(b.RegisterAsync(Other).Result, Is.EqualTo(second));
            Assert.That(server.Installations.Keys, Is.EquivalentTo(new[] { first, second }));
            Assert.That(server.Count("PUT"), Is.EqualTo(2));
        }

        [Test]
        public void ARestoredStateDoesNotUnregisterTheOtherDevice()
        {
            var first = Client("a", new Xor(1)).RegisterAsync(One).Result;
            Restore("a", "b", false);
            Client("b", new Xor(1)).UnregisterAsync().Wait();
            Assert.That(server.Installations.Keys, Is.EqualTo(new[] { first }));
        }

        /// <summary>However the app spells the folder: for Windows, a and A are the same.</summary>
        [TestCase(true)]
        [TestCase(false)]
        public void TheSameDeviceKeepsItsId(bool hasCache)
        {
            var first = Client("a", new Xor(1), hasCache).RegisterAsync(One).Result;
            Process.Start("ln", "-s a " + Path.Combine(folder, "A")).WaitForExit();
            Assert.That(Client("A/", new Xor(1), hasCache).RegisterAsync(Other).Result, Is.EqualTo(first));
        }

        /// <summary>Windows has moved the app's files.</summary>
        [Test]
        public void AMovedFolderKeepsItsIdIfItHasACache()
        {
            var first = Client("a", new Xor(1)).RegisterAsync(One).Result;
            Restore("a", "b", true);
            Assert.That(Client("b", new Xor(1)).RegisterAsync(Other).Result, Is.EqualTo(first));
        }

        private SecurePushClient Client(
            string name, ISecretProtector protector, bool hasCache = true) => new SecurePushClient(
            new SecurePushConfiguration(SimulatedServer.Url),
            new FixedCredentialsProvider(
                SimulatedServer.User, ClientCredentials.Basic(SimulatedServer.User, SimulatedServer.Password)),
            new FileClientStore(
                Path.Combine(folder, name), protector,
                hasCache ? Path.Combine(folder, name.Substring(0, 1).ToLowerInvariant() + "-cache") : null),
            new Direct(server), new NoScreen());

        private void Restore(string from, string to, bool withCache)
        {
            foreach (var part in withCache ? new[] { "", "-cache" } : new[] { "" })
            {
                Directory.CreateDirectory(Path.Combine(folder, to + part));
                foreach (var file in Directory.GetFiles(Path.Combine(folder, from + part)))
                {
                    File.Copy(file, Path.Combine(folder, to + part, Path.GetFileName(file)));
                }
            }
        }

        /// <summary>Encrypts with a key; what another key has encrypted is damaged.</summary>
        private sealed class Xor : ISecretProtector
        {
            private readonly byte key;

            public Xor(byte key)
            {
                this.key = key;
            }

            public Task<byte[]> ProtectAsync(byte[] plain) =>
                Task.FromResult(new[] { key }.Concat(plain.Select(value => (byte)(value ^ key))).ToArray());

            public Task<byte[]> UnprotectAsync(byte[] sealedData) => Task.FromResult(
                sealedData.Length > 0 && sealedData[0] == key
                    ? sealedData.Skip(1).Select(value => (byte)(value ^ key)).ToArray()
                    : null);
        }

        private sealed class Direct : ITransport
        {
            private readonly SimulatedServer server;

            public Direct(SimulatedServer server)
            {
                this.server = server;
            }

            public Task<TransportResponse> SendAsync(
                TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation) =>
                Task.FromResult(server.Respond(request));
        }

        private sealed class NoScreen : INotificationPresenter
        {
            public Task ShowAsync(SecretNotification secret) => Task.FromResult(true);

            public Task ShowAsync(GenericNotice notice) => Task.FromResult(true);

            public Task ShowAsync(LogInPrompt prompt) => Task.FromResult(true);

            public Task RemoveAsync(IReadOnlyCollection<PushId> ids) => Task.FromResult(true);

            public Task RemovePromptAsync() => Task.FromResult(true);

            public Task RemoveAllAsync() => Task.FromResult(true);

            public Task SetBadgeAsync(int count) => Task.FromResult(true);

            public Task<ISet<PushId>> DisplayedSecretsAsync() =>
                Task.FromResult<ISet<PushId>>(null);
        }
    }
}
