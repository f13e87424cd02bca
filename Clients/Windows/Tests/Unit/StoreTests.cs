using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The store in real files.</summary>
    [TestFixture]
    public sealed class StoreTests
    {
        private string folder;

        [SetUp]
        public void MakeFolder() => folder = Path.Combine(Path.GetTempPath(), "securepush-" + Guid.NewGuid());

        [TearDown]
        public void RemoveFolder()
        {
            if (Directory.Exists(folder))
            {
                Directory.Delete(folder, true);
            }
        }

        private FileClientStore Store(double startedAt = 1000) =>
            new FileClientStore(folder, new TurningProtector(), () => startedAt);

        private static bool Learn(ClientState state, string id) =>
            state.Ledger.Learn(PushId.From(id), 1700000000.123456, new ClientLimits());

        [Test]
        public void EverythingIsReadAgain()
        {
            var store = Store();
            store.UpdateAsync(state =>
            {
                Learn(state, "01");
                state.Ledger.Claim(PushId.From("02"), "process", true, 1.5, new ClientLimits());
                state.Owner = "ä\"\\\n\ud83d\ude00";
                state.Cursor = PushId.From("02");
                state.Registration = new RegistrationRecord(
                    "8d0e7a34-5f0c-4c8e-9a35-3d2b1c0f9e87", "alice", "digest", 2.25, "key");
                state.ReplacePushKeys(PublicKeySet.FromStored(new[] { new byte[65] }), 4.5);
                state.Ledger.OpenRequest(PushId.From("01"));
                state.Report(PushId.From("01"));
                return state.TakeLease("p", 7, 10);
            }).Wait();
            var read = Store().ReadAsync().Result;
            Assert.That(read.Encode(), Is.EqualTo(store.ReadAsync().Result.Encode()));
            Assert.That(read.Owner, Is.EqualTo("ä\"\\\n\ud83d\ude00"));
            Assert.That(read.Ledger.Entries[0].At, Is.EqualTo(1700000000.123456));
            Assert.That(read.Ledger.Entries[1].IsClaimedBy("process") && read.Ledger.Entries[1].IsFirstReader);
            Assert.That(read.Registration.RegisteredAt, Is.EqualTo(2.25));
            Assert.That(read.Ledger.Entries.Select(entry => entry.OpenRequests), Is.EqualTo(new[] { 1, 0 }));
            Assert.That(read.PushKeys.Keys.Count, Is.EqualTo(1));
            Assert.That(read.PushKeysReadAt, Is.EqualTo(4.5));
            Assert.That(read.LeaseProcess, Is.EqualTo("p"));
            store.UpdateAsync(state => state.Registration = new RegistrationRecord("../token")).Wait();
            Assert.That(Store().ReadAsync().Result.Registration.InstallationId, Is.Null);
        }

        [Test]
        public void SecretsAreNotInTheFilesAsTheyAre()
        {
            var store = Store();
            store.SaveCredentialsAsync(
                new StoredCredentials("alice") { AccessToken = "hunter2", ExpiresAt = 3.5, RefreshToken = "r" }).Wait();
            store.SaveEncryptionKeysAsync(Encoding.ASCII.GetBytes("hunter2")).Wait();
            var read = Store().ReadCredentialsAsync().Result;
            Assert.That(read.AccessToken, Is.EqualTo("hunter2"));
            Assert.That(read.ExpiresAt, Is.EqualTo(3.5));
            Assert.That(Store().ReadEncryptionKeysAsync().Result, Is.EqualTo(Encoding.ASCII.GetBytes("hunter2")));
            foreach (var file in Directory.GetFiles(folder))
            {
                Assert.That(File.ReadAllText(file), Is.Not.StringContaining("hunter2"), file);
            }

            store.SaveCredentialsAsync(null).Wait();
            Assert.That(Store().ReadCredentialsAsync().Result, Is.Null);
        }

        [Test]
        public void CredentialsAreReplacedOnlyIfTheyAreTheExpectedOnes()
        {
            foreach (var store in new IClientStore[] { Store(), new MemoryClientStore() })
            {
                var first = new StoredCredentials("alice") { RefreshToken = "1" };
                var second = new StoredCredentials("alice") { RefreshToken = "2" };
                Assert.That(store.ReplaceCredentialsAsync(first, second).Result, Is.False);
                Assert.That(store.ReplaceCredentialsAsync(null, first).Result);
                Assert.That(store.ReplaceCredentialsAsync(second, null).Result, Is.False);
                Assert.That(store.ReadCredentialsAsync().Result.RefreshToken, Is.EqualTo("1"));
                var departure = new Departure { Url = "https://a/", UserName = "alice", RefreshToken = "1" };
                Assert.That(store.ReplaceCredentialsAsync(
                    first, new StoredCredentials(null).With(new[] { departure })).Result);
                var left = store.ReadCredentialsAsync().Result;
                Assert.That(left.UserName, Is.Null);
                Assert.That(left.Departures.Single().Id, Is.EqualTo(departure.Id));
                Assert.That(store.ReplaceCredentialsAsync(left, null).Result);
                Assert.That(store.ReadCredentialsAsync().Result, Is.Null);
            }
        }

        [Test]
        public void DamagedFilesArePutAside()
        {
            var store = Store();
            store.UpdateAsync(state => Learn(state, "01")).Wait();
            store.SaveCredentialsAsync(new StoredCredentials("alice")).Wait();
            foreach (var text in new[] { "", "{", "[]", "{\"ledger\":[\"x\"]}", "{\"ledger\":[\"01 99 1 0 0 \"]}" })
            {
                File.WriteAllText(Path.Combine(folder, "state.json"), text);
                Assert.That(store.ReadAsync().Result.Ledger.Entries, Is.Empty, text);
                Assert.That(File.Exists(Path.Combine(folder, "state.json.damaged")));
                Assert.That(store.UpdateAsync(state => Learn(state, "02")).Result);
            }

            File.WriteAllText(Path.Combine(folder, "credentials.bin"), "x");
            Assert.That(store.ReadCredentialsAsync().Result, Is.Null);
            File.WriteAllBytes(Path.Combine(folder, "state.json"), new byte[5 << 20]);
            Assert.That(store.ReadAsync().Result.Ledger.Entries, Is.Empty);
        }

        [Test]
        public void ChangesOfManyProcessesAreAllKept()
        {
            var stores = Enumerable.Range(0, 4).Select(_ => Store()).ToList();
            var work = Enumerable.Range(0, 100).Select(
                i => Task.Run(() => LearnAsync(stores[i % 4], i.ToString()))).ToArray();
            Task.WaitAll(work);
            Assert.That(Store().ReadAsync().Result.Ledger.Entries, Has.Count.EqualTo(100));
        }

        /// <summary>
        /// On a slow machine a store may be busy for long. Then nothing has changed, and it is tried again.
        /// </summary>
        private static async Task LearnAsync(FileClientStore store, string id)
        {
            while (true)
            {
                try
                {
                    await store.UpdateAsync(state => Learn(state, id));
                    return;
                }
                catch (ClientStoreException error) when (error.Error == ClientStoreError.Busy)
                {
                    await Task.Delay(10);
                }
            }
        }

        [Test]
        public void AFolderThatCannotBeMadeIsUnwritable()
        {
            File.WriteAllText(folder, "");
            try
            {
                var error = Assert.Throws<AggregateException>(
                    () => Store().UpdateAsync(state => Learn(state, "1")).Wait());
                Assert.That(
                    ((ClientStoreException)error.InnerException).Error, Is.EqualTo(ClientStoreError.Unwritable));
                Assert.That(Store().ClaimLockedNoticeAsync().Result);
            }
            finally
            {
                File.Delete(folder);
            }
        }

        [Test]
        public void TheLockedNoticeIsClaimedOncePerStart()
        {
            Assert.That(Store().ClaimLockedNoticeAsync().Result);
            Assert.That(Store(1001).ClaimLockedNoticeAsync().Result, Is.False);
            Assert.That(Store(9000).ClaimLockedNoticeAsync().Result);
            Assert.That(Store(9000).ClaimLockedNoticeAsync().Result, Is.False);
        }

        [Test]
        public void DpapiProtects()
        {
            var protector = new DpapiProtector();
            var plain = Encoding.ASCII.GetBytes("hunter2");
            var sealedData = protector.ProtectAsync(plain).Result;
            Assert.That(Encoding.ASCII.GetString(sealedData), Is.Not.StringContaining("hunter2"));
            Assert.That(protector.UnprotectAsync(sealedData).Result, Is.EqualTo(plain));
            sealedData[sealedData.Length / 2] ^= 1;
            Assert.That(protector.UnprotectAsync(sealedData).Result, Is.Null);
        }

        /// <summary>Everything else may pass, so that no file is put aside.</summary>
        [TestCase(0x80090005u, true)]
        [TestCase(0x80090003u, true)]
        [TestCase(0x8009310Bu, true)]
        [TestCase(0x8007000Du, true)]
        [TestCase(0x8009000Bu, false)]
        [TestCase(0x80070008u, false)]
        [TestCase(0x800706BAu, false)]
        [TestCase(0x80131430u, false)]
        public void OnlyDamageIsForGood(uint code, bool isDamaged) => Assert.That(
            DataProtectionErrors.IsDamaged(new CryptographicException(unchecked((int)code))), Is.EqualTo(isDamaged));

        /// <summary>
        /// A file or a data protection that does not answer. The caller goes on, and its limit ends the call.
        /// </summary>
        [Test]
        public void ACallThatBlocksDoesNotBlockTheCaller()
        {
            var gate = new ManualResetEvent(true);
            var protector = new TurningProtector { Gate = gate };
            var store = new FileClientStore(folder, protector, () => gate.WaitOne() ? 1000 : 0);
            store.SaveCredentialsAsync(new StoredCredentials("alice")).Wait();
            gate.Reset();

            // A pipe: who opens it waits for a writer.
            var path = Path.Combine(folder, "state.json");
            Process.Start("mkfifo", path).WaitForExit();
            var calls = Task.Run(() => new Task[]
            {
                store.ReadAsync(), store.ReadCredentialsAsync(), store.ClaimLockedNoticeAsync(),
                store.SaveEncryptionKeysAsync(new byte[32]), store.UpdateAsync(state => true),
            });
            try
            {
                Assert.That(calls.Wait(TimeSpan.FromSeconds(30)));
                Assert.That(calls.Result.Any(call => call.IsCompleted), Is.False);
            }
            finally
            {
                gate.Set();
                using (new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite))
                {
                    // Some fail then: a pipe is no state.
                    Task.WhenAll(calls.Result).ContinueWith(end => end.Exception).Wait();
                }
            }
        }

        [Test]
        public void ARelativeFolderIsRefused()
        {
            Assert.Throws<ArgumentException>(() => new FileClientStore("store", new TurningProtector()));
            Assert.Throws<ArgumentException>(() => new FileClientStore(folder, new TurningProtector(), "cache"));
        }

        /// <summary>The user's keys are missing before the user has signed in. The data is not damaged then.</summary>
        [TestCase(0x8009000Bu, true)]
        [TestCase(0x800704DDu, true)]
        [TestCase(0x8007000Du, false)]
        public void MissingKeysAreNoDamage(uint code, bool isLocked) => Assert.That(
            DataProtectionErrors.IsLocked(new CryptographicException(unchecked((int)code))), Is.EqualTo(isLocked));

        /// <summary>The private key for end-to-end encryption is on the disk in DPAPI's form only.</summary>
        [Test]
        public void ThePrivateKeyIsProtectedByDpapi()
        {
            var key = LibCrypto.RandomBytes(32);
            new FileClientStore(folder, new DpapiProtector()).SaveEncryptionKeysAsync(key).Wait();
            Assert.That(
                new FileClientStore(folder, new DpapiProtector()).ReadEncryptionKeysAsync().Result, Is.EqualTo(key));
            var files = Directory.GetFiles(folder).Select(file => BitConverter.ToString(File.ReadAllBytes(file)));
            Assert.That(files.Any(bytes => bytes.Contains(BitConverter.ToString(key))), Is.False);
            var content = File.ReadAllBytes(Path.Combine(folder, "encryption-keys.bin"));
            var purpose = Encoding.ASCII.GetBytes("SecurePush");
            Assert.That(
                ProtectedData.Unprotect(content, purpose, DataProtectionScope.CurrentUser), Is.EqualTo(key));
        }

        /// <summary>It only turns the bits around.</summary>
        private sealed class TurningProtector : ISecretProtector
        {
            /// <summary>While it is closed, no call ends.</summary>
            public ManualResetEvent Gate { get; set; } = new ManualResetEvent(true);

            public Task<byte[]> ProtectAsync(byte[] plain)
            {
                Gate.WaitOne();
                return Task.FromResult(new byte[] { 90 }.Concat(plain.Select(value => (byte)~value)).ToArray());
            }

            public Task<byte[]> UnprotectAsync(byte[] sealedData)
            {
                Gate.WaitOne();
                return Task.FromResult(
                    sealedData.Length > 0 && sealedData[0] == 90
                        ? sealedData.Skip(1).Select(value => (byte)~value).ToArray()
                        : null);
            }
        }
    }
}
