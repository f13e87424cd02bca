using System;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The flows of an app on a simulated device.</summary>
    [TestFixture]
    public sealed class FlowTests
    {
        private static void Run(Func<SimulatedDevice, Task> body)
        {
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, () => body(device));
        }

        [Test]
        public void APushShowsItsSecretOnceAndTellsTheServer() => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send("\"Your results are in.\"");
            var app = device.Start();
            var report = await app.Client.HandleAsync(device.Push(id));
            Assert.That(report.Result, Is.EqualTo(WakeResult.NewData));
            Assert.That(report.Shown, Is.EqualTo(new[] { id }));
            Assert.That(device.Screen.Secrets.Single().Text, Is.EqualTo("Your results are in."));
            Assert.That(device.Screen.Badges.Last(), Is.EqualTo(0));
            Assert.That(device.Server.ShownReports, Is.EqualTo(new[] { id.ToString() }));

            // Again, also in a new process: nothing is fetched and nothing is shown.
            await device.Start().Client.HandleAsync(device.Push(id));
            Assert.That(device.Screen.TimesShown(id), Is.EqualTo(1));
            Assert.That(device.Server.Count("GET /api/notifications/" + id), Is.EqualTo(1));
        });

        [Test]
        public void TheTutorialsFlow() => Run(async device =>
        {
            await device.LogInAsync();
            device.Server.EndSessions();
            PushId first = device.Server.Send(), second = device.Server.Send();
            var app = device.Start();
            Assert.That((await app.Client.HandleAsync(device.Push(first))).Code.ToString(), Is.EqualTo("SP-401"));
            await app.Client.HandleAsync(device.Push(second));
            Assert.That(device.Screen.Prompts.Last().Ids, Is.EqualTo(new[] { first, second }));
            Assert.That(device.Screen.Prompts.Last().LocalizationKey, Is.EqualTo("securepush.log-in"));
            Assert.That(device.Screen.Secrets, Is.Empty);

            // The process ends; the user opens the app and logs in.
            var next = device.Start();
            Assert.That(await next.Client.WaitingAsync(), Is.EqualTo(new[] { first, second }));
            await next.Credentials.LogInAsync(SimulatedServer.User, SimulatedServer.Password);
            var report = await next.Client.ResumeAfterLogInAsync();
            Assert.That(report.Shown, Is.EqualTo(new[] { first, second }));
            Assert.That(device.Screen.IsPrompting, Is.False);
        });

        [Test]
        public void MissedNotificationsAreFetchedOnEveryWake() => Run(async device =>
        {
            await device.LogInAsync();
            var ids = Enumerable.Range(0, 30).Select(_ => device.Server.Send()).ToList();
            await device.Start().Client.HandleAsync(device.Push(ids[10]));
            Assert.That(ids.All(id => device.Screen.TimesShown(id) == 1));
            Assert.That(device.Server.Count("GET /api/notifications?include=payload"), Is.EqualTo(2));
            var late = device.Server.Send();
            await device.Start().Client.CatchUpAsync();
            Assert.That(device.Screen.TimesShown(late), Is.EqualTo(1));
            Assert.That(device.Server.Log.Any(line => line.Contains("After=" + ids.Last())));
        });

        [Test]
        public void AWithdrawalRemovesTheSecretAndThePushThatComesLater() => Run(async device =>
        {
            await device.LogInAsync();
            PushId shown = device.Server.Send(), unseen = device.Server.Send();
            device.Server.Find(unseen).IsHidden = true;
            var app = device.Start();
            await app.Client.HandleAsync(device.Push(shown));
            device.Server.Find(shown).IsRevoked = true;
            await app.Client.HandleAsync(device.Push(shown, true));
            Assert.That(device.Screen.Visible, Is.Empty);
            await app.Client.HandleAsync(device.Push(unseen, true));
            device.Server.Find(unseen).IsHidden = false;
            await app.Client.HandleAsync(device.Push(unseen));
            Assert.That(device.Screen.TimesShown(unseen), Is.EqualTo(0));
        });

        [Test]
        public void TheFirstReaderKeepsWhatOnlyTheOtherDevicesLose() => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var app = device.Start();
            await app.Client.HandleAsync(device.Push(id));
            await app.Client.HandleAsync(device.Push(id, true));
            Assert.That(device.Screen.Visible, Is.EqualTo(new[] { id }));
            Assert.That(device.Server.Count("HEAD /api/notifications/" + id), Is.EqualTo(1));
        });

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
        public void AnotherUserSeesNothingOfTheLast() => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var app = device.Start();
            await app.Client.HandleAsync(device.Push(id));
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            await app.Client.CatchUpAsync();
            Assert.That(device.Screen.Visible, Is.Empty);
            Assert.That(await app.Client.WaitingAsync(), Is.Empty);
        });

        [Test]
        public void MarkingAsReadRemovesFromTheScreen() => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var app = device.Start();
            await app.Client.HandleAsync(device.Push(id));
            await app.Client.MarkAsReadAsync(new[] { id });
            await app.Client.MarkAsReadThroughAsync(id);
            Assert.That(device.Screen.Visible, Is.Empty);
            Assert.That(device.Server.Count("POST /api/notifications/read"), Is.EqualTo(2));
        });

        [Test]
        public void TheSecretThatComesAfterTheExpirationReplacesTheGenericText() => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var plan = new FaultPlan(
                Fault.All.First(fault => fault.Kind == FaultKind.SlowBody), Stage.Fetch, FaultLength.Once, device.Clock,
                device.Disk);
            var run = await device.RunTaskAsync(device.Raw(id), device.Start(faults: plan), 3);
            Assert.That(run.Seconds, Is.EqualTo(3).Within(0.001));
            Assert.That(run.Completions, Is.EqualTo(1));
            Assert.That(device.Screen.Notices.Single().Code.ToString(), Is.EqualTo("SP-TIMEOUT"));
            await device.Start().Client.CatchUpAsync();
            Assert.That(device.Screen.TimesShown(id), Is.EqualTo(1));
            Assert.That(device.Screen.VisibleNotices, Is.Empty);
        });

        [Test]
        public void APasswordIsKeptOnlyWithoutTokens() => Run(async device =>
        {
            await device.LogInAsync();
            Assert.That(device.Disk.Credentials.Password, Is.Null);
            device.Server.IssuesTokens = false;
            await device.LogInAsync();
            Assert.That(device.Disk.Credentials.Password, Is.EqualTo(SimulatedServer.Password));
            Assert.That(device.Disk.Credentials.ToString(), Is.Not.StringContaining(SimulatedServer.Password));
            device.Server.IssuesTokens = true;
            try
            {
                await device.Start().Credentials.LogInAsync("alice", "wrong");
                Assert.Fail("The password was wrong.");
            }
            catch (SecurePushException error)
            {
                Assert.That(error.Code.ToString(), Is.EqualTo("SP-401"));
            }

            await device.Start().Credentials.LogOutAsync();
            Assert.That(device.Disk.Credentials, Is.Null);
        });

        /// <summary>The answer to the request comes after the user has gone.</summary>
        [Test]
        public void ASecretThatWasAskedForBeforeTheUserChangedIsNotShown() => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var app = device.Start();
            var wake = app.Client.HandleAsync(device.Push(id));
            await device.Clock.SleepAsync(0.02, CancellationToken.None);
            await app.Client.UnregisterAsync();
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            await wake;
            Assert.That(device.Screen.Secrets, Is.Empty);
        });

        [Test]
        public void ARefreshInFlightDoesNotUndoALogOut() => Run(async device =>
        {
            await device.LogInAsync();
            device.Server.RevokeAccessTokens();
            var id = device.Server.Send();
            var app = device.Start();
            var wake = app.Client.HandleAsync(device.Push(id));
            await device.Clock.SleepAsync(0.08, CancellationToken.None);
            Assert.That(device.Server.Count("GET /api/notifications/"), Is.EqualTo(1));
            await app.Credentials.LogOutAsync();
            await wake;
            Assert.That(device.Disk.Credentials, Is.Null);
            Assert.That(device.Screen.Secrets, Is.Empty);
        });

        [Test]
        public void WakesAtTheSameTimeReportEachSecretOnce() => Run(async device =>
        {
            await device.LogInAsync();
            var ids = Enumerable.Range(0, 10).Select(_ => device.Server.Send()).ToList();
            var app = device.Start();
            await Task.WhenAll(ids.Select(id => app.Client.HandleAsync(device.Push(id))).ToList());
            Assert.That(device.Server.ShownReports, Is.EquivalentTo(ids.Select(id => id.ToString())));
            await Task.WhenAll(ids.Select(id => app.Client.HandleAsync(device.Push(id, true))).ToList());
            Assert.That(device.Server.Count("HEAD /api/notifications/"), Is.EqualTo(10));
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
    }
}
