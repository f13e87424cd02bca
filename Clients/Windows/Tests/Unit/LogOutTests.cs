using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;
using static SecurePush.Tests.SimulatedDevice;

namespace SecurePush.Tests
{
    /// <summary>The log-out: without a network, during other work, and killed at each step.</summary>
    [TestFixture]
    public sealed class LogOutTests
    {
        private static readonly PushDevice Device = new PushDevice("https://a.notify.windows.com/");

        /// <summary>What goes on when the process dies.</summary>
        public enum Circumstance
        {
            Online,
            Offline,

            /// <summary>A wake is refreshing the tokens.</summary>
            Refreshing,
        }

        [Test]
        public void WithoutANetworkEverythingIsForgottenAndTheServerIsToldLater() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            Offline(device, true);
            Assert.That(await app.Client.LogOutAsync(), Is.False);
            AssertForgotten(device);
            Assert.That(device.Server.Installations, Has.Count.EqualTo(1));
            Assert.That(device.Server.Sessions, Is.EqualTo(1));
            await device.Start().Client.CatchUpAsync();
            Offline(device, false);
            await device.Start().Client.CatchUpAsync();
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Server.Sessions, Is.EqualTo(0));
            Assert.That(device.Disk.Credentials, Is.Null);
        });

        [Test]
        public void WithANetworkTheServerKnowsAtOnce() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            Assert.That(await app.Client.LogOutAsync());
            AssertForgotten(device);
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Server.Sessions, Is.EqualTo(0));
            Assert.That(device.Disk.Credentials, Is.Null);
            Assert.That(await app.Client.LogOutAsync());
        });

        [Test]
        public void TheLogInOfAnotherUserDoesNotWait() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            var old = device.Server.Installations.Keys.Single();
            Offline(device, true);
            await app.Client.LogOutAsync();
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            Offline(device, false);
            device.Server.Intercept = request =>
                request.Headers.TryGetValue("Authorization", out var value) && value == "Bearer token"
                && request.Method == "PUT"
                    ? new TransportResponse(request.Uri.AbsolutePath.EndsWith("/key") ? 204 : 200)
                    : null;
            var fresh = await app.Client.RegisterAsync(Device);
            Assert.That(fresh, Is.Not.EqualTo(old));
            await app.Client.CatchUpAsync();
            Assert.That(device.Server.Count("DELETE /api/installations/" + old), Is.EqualTo(2));
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Disk.Credentials.Departures, Is.Empty);
            Assert.That(device.Disk.Read().Owner, Is.EqualTo("bob"));
        });

        /// <summary>Whenever it comes, the tokens of the refresh are not kept, and their session ends.</summary>
        [Test]
        public void ALogOutDuringARefreshWins()
        {
            for (var step = 0; step < 30; step++)
            {
                var delay = step * 0.01;
                Run(async device =>
                {
                    var app = await PrepareAsync(device);
                    device.Server.RevokeAccessTokens();
                    var wake = app.Client.HandleAsync(device.Push(device.Server.Send()));
                    await device.Clock.SleepAsync(delay, CancellationToken.None);
                    await app.Client.LogOutAsync();
                    await wake;
                    AssertForgotten(device);
                    await device.Start().Client.CatchUpAsync();
                    Assert.That(device.Server.Sessions, Is.EqualTo(0), delay.ToString());
                    AssertForgotten(device);
                });
            }
        }

        [Test]
        public void ALogOutDuringARefreshOfAnotherProcessWins()
        {
            for (var step = 0; step < 30; step++)
            {
                var delay = step * 0.01;
                Run(async device =>
                {
                    var app = await PrepareAsync(device);
                    device.Server.RevokeAccessTokens();
                    var wake = device.Start().Client.HandleAsync(device.Push(device.Server.Send()));
                    await device.Clock.SleepAsync(delay, CancellationToken.None);
                    await app.Credentials.LogOutAsync();
                    await wake;
                    Assert.That(device.Disk.Credentials?.UserName, Is.Null, delay.ToString());
                });
            }
        }

        [Test]
        public void KilledAtEachStepNothingStaysAndNobodyComesBack()
        {
            var deaths = 0;
            foreach (Circumstance circumstance in Enum.GetValues(typeof(Circumstance)))
            {
                for (var point = 1; Dies(circumstance, point); point++)
                {
                    deaths++;
                }
            }

            Console.WriteLine("Log-outs killed: {0}. Secrets left: 0, sessions that came back: 0.", deaths);
            Assert.That(deaths, Is.GreaterThan(60));
        }

        [Test]
        public void TokensAreKeptForADayAndTheUserRemovesTheInstallationLater() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            Offline(device, true);
            await app.Client.LogOutAsync();
            Assert.That(Stored(device), Is.StringContaining("refresh-"));
            device.Clock.DateOffset += 25 * 3600;
            await device.Start().Client.CatchUpAsync();
            Assert.That(Stored(device), Is.Not.StringContaining("refresh-").And.Not.StringContaining("access-"));
            Offline(device, false);
            await device.Start().Client.CatchUpAsync();
            Assert.That(device.Server.Installations, Has.Count.EqualTo(1));
            await device.LogInAsync();
            await device.Start().Client.CatchUpAsync();
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Disk.Credentials.Departures, Is.Empty);
        });

        [Test]
        public void AnInstallationThatNobodyRemovesIsForgottenWithItsChannel() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            Offline(device, true);
            await app.Client.LogOutAsync();
            device.Clock.DateOffset += 31 * 86400;
            await device.Start().Client.CatchUpAsync();
            Assert.That(device.Disk.Credentials, Is.Null);
        });

        /// <summary>An access token that the server refuses is renewed for the last request.</summary>
        [Test]
        public void ASessionIsRenewedToEndIt() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            device.Server.RevokeAccessTokens();
            Assert.That(await app.Client.LogOutAsync());
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Server.Sessions, Is.EqualTo(0));
        });

        [Test]
        public void APasswordIsStoredOnlyIfTheAppSaysSo() => Run(async device =>
        {
            device.Server.IssuesTokens = false;
            var store = new MemoryClientStore();
            var transport = new SimulatedTransport(
                device.Server, device.Clock, new SimulatedProcess(), device.NoFaults);
            foreach (var keeps in new[] { false, true })
            {
                var provider = new TokenCredentialsProvider(
                    SimulatedServer.Url, store, transport, device.Clock, keeps);
                foreach (var password in new[] { "wrong", SimulatedServer.Password })
                {
                    var code = "";
                    try
                    {
                        await provider.LogInAsync(SimulatedServer.User, password);
                    }
                    catch (SecurePushException error)
                    {
                        code = error.Code.ToString();
                    }

                    Assert.That(code, Is.EqualTo(keeps ? password == "wrong" ? "SP-401" : "" : "SP-404"));
                    Assert.That(await provider.UserNameAsync() != null, Is.EqualTo(code == ""));
                }
            }
        });

        [TestCase("http://push.example.com", false, false)]
        [TestCase("http://push.example.com", true, true)]
        [TestCase("http://127.0.0.1:8080", false, true)]
        [TestCase("http://localhost:8080", false, true)]
        [TestCase("http://localhost.example.com", false, false)]
        [TestCase("ftp://push.example.com", true, false)]
        public void CredentialsGoByHttpsOnly(string url, bool allowsInsecure, bool isAllowed)
        {
            foreach (var call in new TestDelegate[]
            {
                () => new SecurePushConfiguration(new Uri(url), allowsInsecure),
                () => new TokenCredentialsProvider(
                    new Uri(url), new MemoryClientStore(), null, allowsInsecure: allowsInsecure),
            })
            {
                if (isAllowed)
                {
                    Assert.DoesNotThrow(call);
                }
                else
                {
                    Assert.Throws<ArgumentException>(call);
                }
            }
        }

        [Test]
        public void APasswordIsNotKept() => Run(async device =>
        {
            device.Server.IssuesTokens = false;
            var app = await PrepareAsync(device);
            Offline(device, true);
            Assert.That(await app.Client.LogOutAsync(), Is.False);
            Assert.That(Stored(device), Is.Not.StringContaining(SimulatedServer.Password));
            Offline(device, false);
            await device.LogInAsync();
            await device.Start().Client.CatchUpAsync();
            Assert.That(await device.Start().Client.LogOutAsync());
            Assert.That(device.Server.Installations, Is.Empty);
        });

        /// <summary>The request of the registration arrives after the device has forgotten it.</summary>
        [Test]
        public void ALogOutDuringARegistrationUndoesIt()
        {
            for (var step = 0; step < 20; step++)
            {
                var delay = step * 0.01;
                Run(async device =>
                {
                    await device.LogInAsync();
                    var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
                    var registration = app.Client.RegisterAsync(Device);
                    await device.Clock.SleepAsync(delay, CancellationToken.None);
                    await app.Client.LogOutAsync();
                    try
                    {
                        await registration;
                    }
                    catch (SecurePushException)
                    {
                        // The user has logged out.
                    }

                    await device.Start().Client.CatchUpAsync();
                    AssertForgotten(device);
                    Assert.That(device.Server.Installations, Is.Empty, delay.ToString());
                });
            }
        }

        [Test]
        public void TheWaitForTheServerCanBeCancelled() => Run(async device =>
        {
            var app = await PrepareAsync(device);
            var source = new CancellationTokenSource();
            source.Cancel();
            Assert.That(await app.Client.LogOutAsync(source.Token), Is.False);
            AssertForgotten(device);
        });

        /// <summary>A clock that jumps must not let two processes use one refresh token.</summary>
        [TestCase(3600)]
        [TestCase(-3600)]
        public void AClockThatJumpsEndsNoLease(double jump) => Run(async device =>
        {
            await device.LogInAsync();
            device.Server.RevokeAccessTokens();
            var first = device.Start().Client.HandleAsync(device.Push(device.Server.Send()));
            await device.Clock.SleepAsync(0.08, CancellationToken.None);
            device.Clock.DateOffset += jump;
            var second = device.Start().Client.HandleAsync(device.Push(device.Server.Send()));
            await first;
            await second;
            Assert.That(device.Server.Sessions, Is.EqualTo(1));
            Assert.That(device.Screen.Prompts, Is.Empty);
        });

        [Test]
        public void ALeaseOfAnEarlierStartIsOver()
        {
            var state = new ClientState();
            var clock = new SimulatedClock();
            Assert.That(state.TakeLease(ProcessName.New(clock), 1000, 10));
            Assert.That(state.TakeLease(ProcessName.New(clock), 1001, 10), Is.False);
            clock.BootId = "boot-2";
            Assert.That(state.TakeLease(ProcessName.New(clock), 1001, 10));
            Assert.That(new SystemClientClock().BootId, Is.EqualTo(new SystemClientClock().BootId));
            Assert.That(new SystemClientClock().BootId, Is.Not.StringContaining(" ").And.Length.EqualTo(32));
        }

        [Test]
        public void AClaimOfAnEarlierStartIsInDoubt()
        {
            var ledger = new SecretLedger();
            var limits = new ClientLimits();
            ledger.Claim(PushId.From("01"), "boot-1/a", true, 5000, limits);
            Assert.That(ledger.SecondsOfClaims("boot-1/b", 5004, limits), Is.EqualTo(6));
            Assert.That(ledger.SecondsOfClaims("boot-2/b", 5004, limits), Is.EqualTo(0));
        }

        /// <summary>Whether the process died there; false if the log-out has no such point.</summary>
        private static bool Dies(Circumstance circumstance, int point)
        {
            var hasDied = false;
            Run(async device =>
            {
                await PrepareAsync(device);
                Offline(device, circumstance == Circumstance.Offline);
                var app = device.Start(point);
                hasDied = !await app.Process.LiveAsync(async () =>
                {
                    if (circumstance == Circumstance.Refreshing)
                    {
                        device.Server.RevokeAccessTokens();
                        app.Client.HandleAsync(device.Push(device.Server.Send())).Forget();
                        await device.Clock.SleepAsync(0.08, CancellationToken.None);
                    }

                    await app.Client.LogOutAsync();
                });
                var text = circumstance + ", point " + point + " (" + app.Process.Points.Last() + ")";
                await device.Start().Client.CatchUpAsync();
                if (device.Disk.Credentials?.UserName != null)
                {
                    // It died before the one step that counts: the user presses the button again.
                    Assert.That(Count(app, "after replace credentials"), Is.LessThan(2), text);
                    await device.Start().Client.LogOutAsync();
                }

                AssertForgotten(device, text);
                Offline(device, false);
                await device.Clock.SleepAsync(60, CancellationToken.None);
                await device.Start().Client.CatchUpAsync();
                AssertForgotten(device, text);
                if (circumstance == Circumstance.Refreshing && device.Server.Installations.Count > 0)
                {
                    // The answer to the refresh was lost, and the tokens with it. The ID waits for the user.
                    await device.LogInAsync();
                    await device.Start().Client.CatchUpAsync();
                    Assert.That(device.Disk.Credentials.Departures, Is.Empty, text);
                    await device.Start().Client.LogOutAsync();
                }

                Assert.That(device.Server.Installations, Is.Empty, text);
                Assert.That(device.Server.Sessions, Is.EqualTo(0), text);
                Assert.That(device.Disk.Credentials, Is.Null, text);
            });
            return hasDied;
        }

        private static int Count(App app, string name) => app.Process.Points.Count(point => point == name);

        /// <summary>A user is logged in and registered, with a key and a secret on the screen.</summary>
        private static async Task<App> PrepareAsync(SimulatedDevice device)
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            await app.Client.RegisterAsync(Device);
            await app.Client.HandleAsync(device.Push(device.Server.Send()));
            Assert.That(device.Screen.Visible, Has.Count.EqualTo(1));
            Assert.That(device.Disk.EncryptionKeys, Is.Not.Null);
            return app;
        }

        private static void Offline(SimulatedDevice device, bool isOffline) => device.Server.Intercept = request =>
            isOffline ? throw new TransportException(TransportError.Unreachable) : (TransportResponse)null;

        private static string Stored(SimulatedDevice device) =>
            device.Disk.Credentials == null ? "" : Encoding.UTF8.GetString(device.Disk.Credentials.Encode());

        private static void AssertForgotten(SimulatedDevice device, string text = "")
        {
            Assert.That(device.Screen.Visible, Is.Empty, text);
            Assert.That(device.Screen.VisibleNotices, Is.Empty, text);
            Assert.That(device.Disk.Credentials?.UserName, Is.Null, text);
            Assert.That(device.Disk.EncryptionKeys, Is.Null, text);
            var state = device.Disk.Read();
            Assert.That(state.Owner, Is.Null, text);
            Assert.That(state.Ledger.Entries, Is.Empty, text);
            Assert.That(state.Registration.InstallationId, Is.Null, text);
        }
    }
}
