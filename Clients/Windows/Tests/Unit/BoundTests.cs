using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// A part of the platform that does not answer, or throws anything, keeps no secret from the user.
    /// </summary>
    [TestFixture]
    public sealed class BoundTests
    {
        private static readonly PushDevice Device = new PushDevice("https://db3.notify.windows.com/?token=1");

        [TestCase("nothing ends")]
        [TestCase("writes hang")]
        [TestCase("everything throws")]
        [TestCase("everything throws at once")]
        public void WithoutAStoreTheSecretIsShownInTime(string fault) => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var client = Client(device, new BrokenStore(fault), new FixedCredentialsProvider("alice", Token(device)));
            await InTimeAsync(device, () => client.HandleAsync(device.Push(id)));
            Assert.That(device.Screen.Secrets.Select(secret => secret.Id), Is.EqualTo(new[] { id }));
            await InTimeAsync(device, () => client.RegisterAsync(Device));
            await InTimeAsync(device, () => client.CatchUpAsync());
            await InTimeAsync(device, () => client.WaitingAsync());
            await InTimeAsync(device, () => FailAsync(() => client.UnregisterAsync()));
        });

        [Test]
        public void AStoreThatWorksAgainHasTheRegistration() => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var store = new BrokenStore("");
            var credentials = new FixedCredentialsProvider("alice", Token(device));
            var id = await Client(device, store, credentials).RegisterAsync(Device);
            store.Fault = "everything throws";
            var client = Client(device, store, credentials);
            await client.HandleAsync(device.Push(device.Server.Send()));
            store.Fault = "";
            Assert.That(await client.RegisterAsync(Device), Is.EqualTo(id));
            Assert.That(device.Server.Count("PUT"), Is.EqualTo(1));
        });

        [TestCase("nothing ends")]
        [TestCase("everything throws")]
        [TestCase("everything throws at once")]
        public void WithoutAStoreForTheCredentialsTheGenericTextComesInTime(string fault) =>
            SimulatedDevice.Run(async device =>
            {
                await device.LogInAsync();
                var id = device.Server.Send();
                var store = new BrokenStore(fault);
                var transport = new SimulatedTransport(
                    device.Server, device.Clock, new SimulatedProcess(), device.NoFaults);
                var credentials = new TokenCredentialsProvider(SimulatedServer.Url, store, transport, device.Clock);
                var client = Client(device, store, credentials);
                await InTimeAsync(device, () => client.HandleAsync(device.Push(id)));
                Assert.That(device.Screen.Notices.Single().Code.ToString(), Is.EqualTo("SP-CREDENTIALS"));
                Assert.That(await FailAsync(() => client.RegisterAsync(Device)), Is.EqualTo("SP-CREDENTIALS"));
                await InTimeAsync(device, () => FailAsync(credentials.LogOutAsync));
            });

        [TestCase("show")]
        [TestCase("remove")]
        [TestCase("badge")]
        [TestCase("displayed")]
        public void AScreenThatDoesNotAnswerEndsInTime(string call) => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var presenter = new SilentPresenter(
                call, new SimulatedPresenter(device.Screen, new SimulatedProcess(), device.NoFaults));
            var client = Client(
                device, new MemoryClientStore(), new FixedCredentialsProvider("alice", Token(device)), presenter);
            await InTimeAsync(device, () => client.HandleAsync(device.Push(id)));
            Assert.That(device.Screen.Secrets.Count + device.Screen.Hints, Is.EqualTo(1));
            await InTimeAsync(device, () => client.UnregisterAsync());
        });

        [TestCase(true)]
        [TestCase(false)]
        public void AProviderThatDoesNotAnswerEndsInTime(bool knowsTheName) => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var client = Client(device, new MemoryClientStore(), new SilentProvider(knowsTheName));
            await InTimeAsync(device, () => client.HandleAsync(device.Push(id)));
            Assert.That(device.Screen.Hints, Is.EqualTo(knowsTheName ? 1 : 0));

            // Nobody knows whether somebody is logged in.
            await InTimeAsync(device, async () => Assert.That(
                await FailAsync(() => client.RegisterAsync(Device)), Is.EqualTo("SP-CREDENTIALS")));
        });

        private static Task<T> Never<T>() => new TaskCompletionSource<T>().Task;

        private static ClientCredentials Token(SimulatedDevice device) =>
            ClientCredentials.Bearer(device.Disk.Credentials.AccessToken);

        private static SecurePushClient Client(
            SimulatedDevice device, IClientStore store, ICredentialsProvider credentials,
            INotificationPresenter presenter = null) => new SecurePushClient(
                new SecurePushConfiguration(SimulatedServer.Url) { PushKeys = device.Keys }, credentials, store,
                new SimulatedTransport(device.Server, device.Clock, new SimulatedProcess(), device.NoFaults),
                presenter ?? new SimulatedPresenter(device.Screen, new SimulatedProcess(), device.NoFaults),
                device.Clock, new LibCrypto(), TaskScheduler.Current);

        private static async Task InTimeAsync(SimulatedDevice device, Func<Task> call)
        {
            var begin = device.Clock.Uptime;
            await call();
            Assert.That(device.Clock.Uptime - begin, Is.LessThan(28));
        }

        /// <summary>A failure is an end. Returns its code.</summary>
        private static async Task<string> FailAsync(Func<Task> call)
        {
            try
            {
                await call();
            }
            catch (SecurePushException error)
            {
                return error.Code.ToString();
            }
            catch (ClientStoreException)
            {
                // It has ended.
            }

            return "";
        }

        private sealed class BrokenStore : IClientStore
        {
            private readonly MemoryClientStore memory = new MemoryClientStore();

            public BrokenStore(string fault)
            {
                Fault = fault;
            }

            public string Fault { get; set; }

            public Task<ClientState> ReadAsync() => Break(memory.ReadAsync, false);

            public Task<T> UpdateAsync<T>(Func<ClientState, T> change) => Break(() => memory.UpdateAsync(change), true);

            public Task<StoredCredentials> ReadCredentialsAsync() => Break(memory.ReadCredentialsAsync, false);

            public Task SaveCredentialsAsync(StoredCredentials credentials) => Break(() => Never<bool>(), true);

            public Task<bool> ReplaceCredentialsAsync(StoredCredentials expected, StoredCredentials replacement) =>
                Break(() => memory.ReplaceCredentialsAsync(expected, replacement), true);

            public Task<byte[]> ReadEncryptionKeysAsync() => Break(memory.ReadEncryptionKeysAsync, false);

            public Task SaveEncryptionKeysAsync(byte[] keys) => Break(() => Never<bool>(), true);

            public Task<bool> RememberAsync(OpenedEnvelope opened) => Break(() => memory.RememberAsync(opened), true);

            public Task<bool> ClaimLockedNoticeAsync() => Break(memory.ClaimLockedNoticeAsync, true);

            private Task<T> Break<T>(Func<Task<T>> work, bool writes)
            {
                switch (Fault)
                {
                    case "everything throws at once":
                        throw new UnauthorizedAccessException("No store.");
                    case "everything throws":
                        var end = new TaskCompletionSource<T>();
                        end.SetException(new InvalidOperationException("No store."));
                        return end.Task;
                    default:
                        return Fault != "" && (writes || Fault == "nothing ends") ? Never<T>() : work();
                }
            }
        }

        private sealed class SilentPresenter : INotificationPresenter
        {
            private readonly string call;
            private readonly INotificationPresenter others;

            public SilentPresenter(string call, INotificationPresenter others)
            {
                this.call = call;
                this.others = others;
            }

            public Task ShowAsync(SecretNotification secret) =>
                call == "show" ? Never<bool>() : others.ShowAsync(secret);

            public Task ShowAsync(GenericNotice notice) => others.ShowAsync(notice);

            public Task ShowAsync(LogInPrompt prompt) => others.ShowAsync(prompt);

            public Task RemoveAsync(IReadOnlyCollection<PushId> ids) =>
                call == "remove" ? Never<bool>() : others.RemoveAsync(ids);

            public Task RemovePromptAsync() => call == "remove" ? Never<bool>() : others.RemovePromptAsync();

            public Task RemoveAllAsync() => call == "remove" ? Never<bool>() : others.RemoveAllAsync();

            public Task SetBadgeAsync(int count) => call == "badge" ? Never<bool>() : others.SetBadgeAsync(count);

            public Task<ISet<PushId>> DisplayedSecretsAsync() =>
                call == "displayed" ? Never<ISet<PushId>>() : others.DisplayedSecretsAsync();
        }

        private sealed class SilentProvider : ICredentialsProvider
        {
            private readonly bool knowsTheName;

            public SilentProvider(bool knowsTheName)
            {
                this.knowsTheName = knowsTheName;
            }

            public Task<string> UserNameAsync() => knowsTheName ? Task.FromResult("alice") : Never<string>();

            public Task<ClientCredentials> CredentialsAsync() => Never<ClientCredentials>();

            public Task<ClientCredentials> RefreshAsync(ClientCredentials refused) => Never<ClientCredentials>();
        }
    }
}
