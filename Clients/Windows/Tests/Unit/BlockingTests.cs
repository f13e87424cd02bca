using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>An app may block the thread of its window until a call ends.</summary>
    [TestFixture]
    public sealed class BlockingTests
    {
        [Test]
        public void ABlockedWindowDoesNotWaitForItself()
        {
            var folder = Path.Combine(Path.GetTempPath(), "securepush-blocking-" + Guid.NewGuid());
            var store = new FileClientStore(folder, new DpapiProtector());
            var transport = new LateTransport(new SimulatedServer());
            var url = SimulatedServer.Url;
            var credentials = new TokenCredentialsProvider(url, store, transport);
            var screen = new SimulatedPresenter(
                new SimulatedScreen(), new SimulatedProcess(), new SimulatedDevice().NoFaults);
            var client = new SecurePushClient(
                new SecurePushConfiguration(url), credentials, store, transport, screen);
            var device = new PushDevice("https://a.notify.windows.com/");
            var calls = new Func<Task>[]
            {
                () => credentials.LogInAsync(SimulatedServer.User, SimulatedServer.Password),
                () => credentials.UserNameAsync(), () => credentials.CredentialsAsync(),
                () => credentials.RefreshAsync(null), () => client.RegisterAsync(device), () => client.CatchUpAsync(),
                () => client.InboxAsync(), () => client.DevicesAsync(), () => client.WaitingAsync(),
                () => client.MarkAsReadAsync(new[] { PushId.From("01") }),
                () => client.HandleAsync(IncomingPush.FromRaw("01")), () => client.UnregisterAsync(),
                () => client.LogOutAsync(), () => credentials.LogInWithTokenAsync("bob", "token"),
                () => credentials.LogOutAsync(), () => store.ReadAsync(),
            };
            var ended = 0;
            var before = SynchronizationContext.Current;
            try
            {
                // What is posted to the thread of the window runs only when it is free.
                SynchronizationContext.SetSynchronizationContext(new NeverContext());
                ended = calls.TakeWhile(call => call().Wait(TimeSpan.FromSeconds(20))).Count();
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(before);
                Directory.Delete(folder, true);
            }

            Assert.That(ended, Is.EqualTo(calls.Length));
        }

        /// <summary>
        /// Everything that does not run on the client's scheduler, or is not detached from the caller's context, says
        /// that it needs no context.
        /// </summary>
        [Test]
        public void AwaitsOutsideOfTheSchedulerKeepNoContext()
        {
            var files = new[]
            {
                "SecurePush.Client/Store/FileClientStore.cs", "SecurePush.Client/Store/DpapiProtector.cs",
                "SecurePush.Client/Transport/HttpClientTransport.cs",
                "SecurePush.Client.Uwp/DataProtectionProtector.cs", "SecurePush.Client.Uwp/PushTaskRegistration.cs",
                "SecurePush.Client.Uwp/ToastPresenter.cs",
                "SecurePush.Client.WindowsApp/AppNotificationPresenter.cs",
            };
            var counts = new List<int>();
            foreach (var file in files)
            {
                var source = File.ReadAllText(Path.Combine("..", file));
                var awaits = Regex.Matches(source, @"\bawait\b").Count;
                Assert.That(Regex.Matches(source, @"\.ConfigureAwait\(false\)").Count, Is.EqualTo(awaits), file);
                counts.Add(awaits);
            }

            Assert.That(counts.Sum(), Is.GreaterThan(25));
        }

        private sealed class NeverContext : SynchronizationContext
        {
            public override void Post(SendOrPostCallback d, object state)
            {
            }
        }

        /// <summary>It never answers at once.</summary>
        private sealed class LateTransport : ITransport
        {
            private readonly SimulatedServer server;

            public LateTransport(SimulatedServer server)
            {
                this.server = server;
            }

            public async Task<TransportResponse> SendAsync(
                TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation)
            {
                await Task.Delay(5, cancellation).ConfigureAwait(false);
                lock (server)
                {
                    return server.Respond(request);
                }
            }
        }
    }
}
