using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>Who may speak to a device, and how often.</summary>
    [TestFixture]
    public sealed class EnvelopeTests
    {
        private static readonly PushDevice Device = new PushDevice("https://a.notify.windows.com/");

        /// <summary>A user is logged in, and the device has a key.</summary>
        private static void Run(
            Func<SimulatedDevice, SimulatedDevice.App, string, Task> body,
            Action<SecurePushConfiguration> adjust = null) => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration =>
            {
                configuration.EncryptsEndToEnd = true;
                adjust?.Invoke(configuration);
            });
            await body(device, app, await app.Client.RegisterAsync(Device));
        });

        private static async Task<string> CodeAsync(SimulatedDevice device, SimulatedDevice.App app, string payload)
        {
            var id = device.Server.Send(payload);
            var code = (await app.Client.HandleAsync(device.Push(id))).Code?.ToString();
            Assert.That(device.Screen.Visible.Contains(id), Is.EqualTo(code == null));

            // It is final, and the user sees the generic text once.
            Assert.That(await app.Client.WaitingAsync(), Is.Empty);
            await app.Client.HandleAsync(device.Push(id));
            Assert.That(device.Screen.Notices.Count(notice => notice.Id == id), Is.EqualTo(code == null ? 0 : 1));
            return code;
        }

        [Test]
        public void AnEnvelopeIsShownUnderOneNotificationOnly() => Run(async (device, app, installation) =>
        {
            var payload = device.Sender.Seal("\"Approve payment 100 EUR\"", installation, device.Disk.PublicKey);
            Assert.That(await CodeAsync(device, app, payload), Is.Null);
            Assert.That(await CodeAsync(device, app, payload), Is.EqualTo("SP-REPLAY"));
            Assert.That(device.Screen.Secrets, Has.Count.EqualTo(1));

            // The app reads it again, and a log-out does not make the device forget it.
            var first = PushId.From(device.Server.Notifications[0].Id);
            Assert.That((await app.Client.ReadAsync(first)).Text, Is.EqualTo("Approve payment 100 EUR"));
            await app.Client.LogOutAsync();
            Assert.That(device.Disk.OpenedEnvelopes, Has.Length.EqualTo(40));
            Assert.That(device.Disk.EncryptionKeys, Is.Null);
        });

        [Test]
        public void WhatIsTooOldOrOverIsNotShown() => Run(async (device, app, installation) =>
        {
            var ages = new Dictionary<int, string>
            {
                { -86402, "SP-REPLAY" }, { -86399, null },
                { (90 * 86400) - 2, null }, { (90 * 86400) + 2, "SP-REPLAY" },
            };
            foreach (var age in ages)
            {
                var sender = device.Sender;
                sender.At -= age.Key;
                var payload = sender.Seal("\"x\"", installation, device.Disk.PublicKey);
                Assert.That(await CodeAsync(device, app, payload), Is.EqualTo(age.Value), "age " + age.Key);
            }

            foreach (var seconds in new[] { 1000, 0, -1000 })
            {
                var sender = device.Sender;
                sender.ExpiresAt = sender.At + seconds;
                var payload = sender.Seal("\"x\"", installation, device.Disk.PublicKey);
                Assert.That(await CodeAsync(device, app, payload), Is.EqualTo(seconds > 0 ? null : "SP-EXPIRED"));
            }
        });

        [Test]
        public void OnlyKnownSendersMaySpeak()
        {
            var friend = new TestSender { Signs = true };
            Run(
                async (device, app, installation) =>
                {
                    foreach (var sender in new[] { friend, device.Sender, new TestSender { Signs = true } })
                    {
                        sender.At = (long)device.Clock.UnixTime;
                        var payload = sender.Seal("\"x\"", installation, device.Disk.PublicKey);
                        var code = sender == friend ? null : "SP-SENDER";
                        Assert.That(await CodeAsync(device, app, payload), Is.EqualTo(code));
                    }
                }, configuration => configuration.SenderKeys = friend.Keys);
        }

        [Test]
        public void WhatIsNotEncryptedCanBeRefused() => Run(
            async (device, app, installation) =>
            {
                var payload = device.Sender.Seal("\"x\"", installation, device.Disk.PublicKey);
                Assert.That(await CodeAsync(device, app, payload), Is.Null);
                Assert.That(await CodeAsync(device, app, "\"plain text of the operator\""), Is.EqualTo("SP-PLAIN"));
                Assert.That(await CodeAsync(device, app, "{\"Body\":\"x\"}"), Is.EqualTo("SP-PLAIN"));
            }, configuration => configuration.RequiresEncryption = true);

        /// <summary>The disk is full: a replay could not be told from a first time later.</summary>
        [Test]
        public void WhatCannotBeRememberedIsNotShown() => Run(async (device, app, installation) =>
        {
            var id = device.Server.Send(device.Sender.Seal("\"x\"", installation, device.Disk.PublicKey));
            var full = new FaultPlan(
                Fault.All.First(fault => fault.Kind == FaultKind.StoreFull), Stage.Store, FaultLength.Lasting,
                device.Clock, device.Disk);
            var other = device.Start(faults: full);
            await other.Client.HandleAsync(device.Push(id));
            Assert.That(device.Screen.Secrets, Is.Empty);
            full.Heal();
            await other.Client.CatchUpAsync();
            Assert.That(device.Screen.Visible, Is.EqualTo(new[] { id }));
        });

        [Test]
        public void AKeyIsReplacedEveryMonthAndOpensForAnotherThree() => Run(async (device, app, installation) =>
        {
            var first = device.Disk.PublicKey;
            var fingerprint = await app.Client.EncryptionKeyFingerprintAsync();
            Assert.That(fingerprint, Is.EqualTo(PublicKey.Fingerprint(first)));
            Assert.That(fingerprint, Has.Length.EqualTo(39));
            device.Clock.DateOffset += 29.9 * 86400;
            await app.Client.RegisterAsync(Device);
            Assert.That(device.Disk.PublicKey, Is.EqualTo(first));
            device.Clock.DateOffset += 86400;

            // The server cannot be reached: the next wake sends the key.
            device.Server.Intercept = request => request.Uri.AbsolutePath.EndsWith("/key")
                ? throw new TransportException(TransportError.Unreachable)
                : (TransportResponse)null;
            await app.Client.CatchUpAsync();
            var second = device.Disk.PublicKey;
            Assert.That(second, Is.Not.EqualTo(first));
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            Assert.That(
                device.Server.Keys[installation],
                Is.EqualTo(System.Text.Encoding.UTF8.GetString(PublicKey.Jwk(second))));
            var requests = device.Server.Count("PUT /api/devices");
            await app.Client.CatchUpAsync();
            Assert.That(device.Server.Count("PUT /api/devices"), Is.EqualTo(requests));
            Assert.That(await app.Client.EncryptionKeyFingerprintAsync(), Is.Not.EqualTo(fingerprint));

            foreach (var key in new[] { first, second })
            {
                Assert.That(await CodeAsync(device, app, device.Sender.Seal("\"x\"", installation, key)), Is.Null);
            }

            for (var month = 0; month < 4; month++)
            {
                device.Clock.DateOffset += 30.1 * 86400;
                await app.Client.RegisterAsync(Device);
            }

            var late = device.Sender.Seal("\"x\"", installation, first);
            Assert.That(await CodeAsync(device, app, late), Is.EqualTo("SP-DECRYPT"));
            Assert.That(EncryptionKeys.Decode(device.Disk.EncryptionKeys).Pairs.Count, Is.EqualTo(4));
            await app.Client.UnregisterAsync();
            Assert.That(await app.Client.EncryptionKeyFingerprintAsync(), Is.Null);
        });

        /// <summary>The message may be for another key than the one that cannot be used now.</summary>
        [Test]
        public void AKeyThatCannotBeUsedNowDoesNotHideTheOthers() => SimulatedDevice.Run(async device =>
        {
            var platform = new CountingCryptography();
            var pairs = new[] { await platform.MakeKeyAsync(), await platform.MakeKeyAsync() };
            platform.Unusable = pairs[0].PrivateKey;
            var sender = device.Sender;
            var envelope = new Envelope(Envelope.Read(sender.Seal("\"x\"", "phone", pairs[1].PublicKey)));
            var content = await envelope.OpenAsync(sender.Recipient, "phone", pairs, platform);
            Assert.That(content.Value.Text(), Is.EqualTo("x"));
            envelope = new Envelope(Envelope.Read(sender.Seal("\"x\"", "phone", pairs[0].PublicKey)));
            var problem = envelope.OpenAsync(sender.Recipient, "phone", pairs, platform).ContinueWith(
                task => task.Exception?.InnerException);
            Assert.That(await problem, Is.InstanceOf<InvalidOperationException>());
        });

        [Test]
        public void TheKeysOfAPlatformAreRemovedFromIt() => SimulatedDevice.Run(async device =>
        {
            var platform = new CountingCryptography();
            var store = new MemoryClientStore();
            var process = new SimulatedProcess();
            var client = new SecurePushClient(
                new SecurePushConfiguration(SimulatedServer.Url) { EncryptsEndToEnd = true },
                new FixedCredentialsProvider("alice", ClientCredentials.Basic("alice", SimulatedServer.Password)),
                store,
                new SimulatedTransport(device.Server, device.Clock, process, device.NoFaults),
                new SimulatedPresenter(device.Screen, process, device.NoFaults), device.Clock, platform,
                TaskScheduler.Current);
            for (var month = 0; month < 12; month++)
            {
                await client.RegisterAsync(Device);
                device.Clock.DateOffset += 31 * 86400;
            }

            Assert.That(platform.Made, Has.Count.EqualTo(12));
            Assert.That(platform.Removed, Is.EqualTo(platform.Made.Take(8)));
            await client.UnregisterAsync();
            Assert.That(platform.Removed, Is.EquivalentTo(platform.Made));
        });

        /// <summary>More than a store has to keep: the newest ones stay, also after a crash in a write.</summary>
        [Test]
        public void TheFileOfOpenedEnvelopesStaysSmall()
        {
            var folder = Path.Combine(Path.GetTempPath(), "securepush-" + Guid.NewGuid());
            try
            {
                var store = new FileClientStore(folder, new DpapiProtector());
                var path = Path.Combine(folder, "opened-envelopes.bin");
                var id = PushId.From("01");
                var first = new OpenedEnvelope(Guid.NewGuid(), id, 1000);
                Assert.That(store.RememberAsync(first).Result);
                File.AppendAllText(path, "half a record");
                var second = new OpenedEnvelope(Guid.NewGuid(), id, 1000);
                Assert.That(store.RememberAsync(second).Result);
                Assert.That(new FileInfo(path).Length, Is.EqualTo(80));
                Assert.That(store.RememberAsync(first).Result);
                var records = File.ReadAllBytes(path);
                while (records.Length < 40 * 10999)
                {
                    records = records.Concat(records).Take(40 * 10999).ToArray();
                }

                File.WriteAllBytes(path, records);
                foreach (var at in new[] { 1000, 2000, 3000 })
                {
                    Assert.That(store.RememberAsync(new OpenedEnvelope(Guid.NewGuid(), id, at)).Result);
                }

                Assert.That(new FileInfo(path).Length, Is.EqualTo(40 * 10001));
                Assert.That(second.FindIn(File.ReadAllBytes(path)), Is.True);
                store.RememberAsync(new OpenedEnvelope(Guid.NewGuid(), PushId.From("02"), 4000)).Wait();
                Assert.That(second.FindIn(File.ReadAllBytes(path).Skip(40 * 9999).ToArray()), Is.Null);
            }
            finally
            {
                Directory.Delete(folder, true);
            }
        }

        /// <summary>The hub's operator forges a withdrawal. The server still has the notification.</summary>
        [Test]
        public void AForgedWithdrawalSilencesNothing() => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.PushKeys = null);
            var id = device.Server.Send();
            device.Server.Find(id).IsRead = true;
            device.Server.Intercept = request => throw new TransportException(TransportError.Unreachable);
            await app.Client.HandleAsync(IncomingPush.FromRaw(id + " withdraw"));
            Assert.That(device.Disk.Read().Unconfirmed, Is.Empty);
            device.Server.Intercept = request => null;
            var wake = app.Client.HandleAsync(IncomingPush.FromRaw(id.ToString()));
            await device.Clock.SleepAsync(0.02, System.Threading.CancellationToken.None);
            await app.Client.HandleAsync(IncomingPush.FromRaw(id + " withdraw"));
            await wake;
            Assert.That(device.Screen.Visible, Is.EqualTo(new[] { id }));
            device.Server.Find(id).IsRevoked = true;
            await app.Client.HandleAsync(IncomingPush.FromRaw(id + " withdraw"));
            Assert.That(device.Screen.Visible, Is.Empty);
        });

        private sealed class CountingCryptography : IClientCryptography
        {
            private readonly LibCrypto inner = new LibCrypto();

            public List<byte[]> Made { get; } = new List<byte[]>();

            public List<byte[]> Removed { get; } = new List<byte[]>();

            public byte[] Unusable { get; set; }

            public async Task<EncryptionKeyPair> MakeKeyAsync()
            {
                var pair = await inner.MakeKeyAsync();
                Made.Add(pair.PrivateKey);
                return pair;
            }

            public Task RemoveKeyAsync(byte[] privateKey)
            {
                Removed.Add(privateKey);
                return Task.FromResult(true);
            }

            public Task<byte[]> AgreeAsync(byte[] privateKey, byte[] publicKey) => privateKey == Unusable
                ? throw new InvalidOperationException()
                : inner.AgreeAsync(privateKey, publicKey);

            public bool IsPublicKey(byte[] bytes) => inner.IsPublicKey(bytes);

            public bool Verify(byte[] publicKey, byte[] message, byte[] signature) =>
                inner.Verify(publicKey, message, signature);

            public byte[] OpenAesGcm(byte[] key, byte[] nonce, byte[] sealedText, byte[] associatedData) =>
                inner.OpenAesGcm(key, nonce, sealedText, associatedData);
        }
    }
}
