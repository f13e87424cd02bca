using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;
using static SecurePush.Tests.SimulatedDevice;

namespace SecurePush.Tests
{
    /// <summary>The flows of an app on a simulated device.</summary>
    [TestFixture]
    public sealed class FlowTests
    {
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

        /// <summary>
        /// Two secrets are fetched one by one. The user changes while the first one is on its way.
        /// </summary>
        [Test]
        public void ACatchUpAsksNothingForAUserWhoHasGone() => Run(async device =>
        {
            await device.LogInAsync();
            PushId first = device.Server.Send(), second = device.Server.Send();
            device.Server.SupportsPayloadPages = false;
            var app = device.Start();
            var wake = app.Client.CatchUpAsync();
            await device.Clock.SleepAsync(0.12, CancellationToken.None);
            await app.Client.UnregisterAsync();
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            await wake;
            Assert.That(device.Server.Count("GET /api/notifications/" + first), Is.EqualTo(1));
            Assert.That(device.Server.Count("GET /api/notifications/" + second), Is.EqualTo(0));
            Assert.That(device.Screen.Secrets.Count + device.Screen.Hints, Is.EqualTo(0));
        });

        /// <summary>The answers to the requests of the user who has gone cause no text for the next one.</summary>
        [TestCase(401)]
        [TestCase(404)]
        [TestCase(500)]
        public void AFailureAfterALogOutIsNotShown(int status) => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            device.Server.Intercept = request => request.Uri.AbsolutePath.Contains("/notifications")
                ? new TransportResponse(status)
                : null;
            var app = device.Start();
            var wake = app.Client.HandleAsync(device.Push(id));
            await device.Clock.SleepAsync(0.02, CancellationToken.None);
            await app.Client.UnregisterAsync();
            await app.Credentials.LogOutAsync();
            await wake;
            Assert.That(device.Screen.Hints, Is.EqualTo(0));
            Assert.That(device.Screen.Badges, Is.EqualTo(new[] { 0 }));
        });

        [TestCase(400 * 86400)]
        [TestCase(-400 * 86400)]
        public void AClockThatJumpsAndComesBackShowsNothingTwice(double jump) => Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            await device.Start().Client.HandleAsync(device.Push(id));
            device.Clock.DateOffset += jump;
            var other = device.Server.Send();
            await device.Start().Client.HandleAsync(device.Push(other));
            device.Clock.DateOffset -= jump;
            foreach (var repeated in new[] { id, other })
            {
                await device.Start().Client.HandleAsync(device.Push(repeated));
                Assert.That(device.Screen.TimesShown(repeated), Is.EqualTo(1));
            }
        });

        /// <summary>A claim from the future is as old as one that has expired.</summary>
        [Test]
        public void AClaimExpiresWhenTheClockGoesBack()
        {
            var ledger = new SecretLedger();
            var limits = new ClientLimits();
            ledger.Claim(PushId.From("01"), "dead", true, 5000, limits);
            Assert.That(ledger.SecondsOfClaims("other", 5004, limits), Is.EqualTo(6));
            Assert.That(ledger.SecondsOfClaims("other", 4000, limits), Is.EqualTo(0));
            Assert.That(ledger.Doubts("other", 4000, limits), Has.Count.EqualTo(1));
        }

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

    }
}
