using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;
using static SecurePush.Tests.SimulatedDevice;

namespace SecurePush.Tests
{
    /// <summary>
    /// With <c>DISPATCH_WITHDRAW=read</c> the server withdraws what one of the user's devices has read, from that
    /// device, too.
    /// </summary>
    [TestFixture]
    public sealed class WithdrawalTests
    {
        /// <summary>
        /// A device that has asked for a notification. The server has marked it as read, and no answer has come.
        /// </summary>
        private static async Task<PushId> AskAsync(SimulatedDevice device)
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var loss = new FaultPlan(
                Fault.All.First(fault => fault.Kind == FaultKind.Timeout), Stage.Fetch, FaultLength.Lasting,
                device.Clock, device.Disk);
            await device.Start(faults: loss).Client.HandleAsync(device.Push(id));
            Assert.That(device.Server.Find(id).IsRead);
            Assert.That(device.Screen.Secrets, Is.Empty);
            return id;
        }

        private static Task<WakeReport> WithdrawAsync(SimulatedDevice device, PushId id) =>
            device.Start().Client.HandleAsync(device.Push(id, true));

        private static TransportResponse Lost() => throw new TransportException(TransportError.Unreachable);

        [Test]
        public void TheEchoOfALostAnswerDoesNotEndTheWait() => Run(async device =>
        {
            var id = await AskAsync(device);
            Assert.That((await WithdrawAsync(device, id)).Shown, Is.EqualTo(new[] { id }));
            Assert.That(device.Screen.Visible, Is.EqualTo(new[] { id }));
            Assert.That(device.Screen.VisibleNotices, Is.Empty);
            Assert.That(device.Server.Count("HEAD /api/notifications/" + id), Is.EqualTo(1));
        });

        [Test]
        public void AnEchoThatCannotBeCheckedIsCheckedAtTheNextWake() => Run(async device =>
        {
            var id = await AskAsync(device);
            device.Server.Intercept = request => Lost();
            await WithdrawAsync(device, id);
            var app = device.Start();
            Assert.That(await app.Client.WaitingAsync(), Is.EqualTo(new[] { id }));
            Assert.That(device.Screen.VisibleNotices.Keys, Is.EqualTo(new[] { id.ToString() }));
            device.Server.Intercept = request => null;
            Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EqualTo(new[] { id }));
        });

        /// <summary>
        /// The question has no answer. The fetch of the same wake has one: the sender has revoked the notification.
        /// </summary>
        [Test]
        public void AFetchThatFindsNothingConfirmsAWithdrawal() => Run(async device =>
        {
            var id = await AskAsync(device);
            device.Server.Find(id).IsRevoked = true;
            device.Server.Intercept = request => request.Method == "HEAD" ? new TransportResponse(400) : null;
            await WithdrawAsync(device, id);
            Assert.That(device.Screen.VisibleNotices, Is.Empty);
            Assert.That(await device.Start().Client.WaitingAsync(), Is.Empty);
            Assert.That(device.Screen.Notices.Single().Code.ToString(), Is.EqualTo("SP-TIMEOUT"));
        });

        /// <summary>The server has refused the token, so it has marked nothing as read for this device.</summary>
        [Test]
        public void AWithdrawalEndsWhatWasOnlyRefused() => Run(async device =>
        {
            await device.LogInAsync();
            device.Server.EndSessions();
            var id = device.Server.Send();
            Assert.That(
                (await device.Start().Client.HandleAsync(device.Push(id))).Code.ToString(), Is.EqualTo("SP-401"));
            await WithdrawAsync(device, id);
            Assert.That(await device.Start().Client.WaitingAsync(), Is.Empty);
            Assert.That(device.Screen.IsPrompting, Is.False);
            Assert.That(device.Server.Count("HEAD "), Is.EqualTo(0));
        });

        /// <summary>The answer with the payloads is lost after the server has marked them as read.</summary>
        [Test]
        public void TheEchoOfALostPageDoesNotEndTheWait() => Run(async device =>
        {
            await device.LogInAsync();
            var ids = Enumerable.Range(0, 3).Select(_ => device.Server.Send()).ToList();
            device.Server.Intercept = request => request.Uri.Query.Contains("include=") ? Lost() : null;
            var app = device.Start(adjust: configuration => configuration.Limits.MaxSecretsPerPage = 2);
            await app.Client.CatchUpAsync();
            device.Server.Notifications.ForEach(entry => entry.IsRead = true);
            device.Server.Intercept = request => request.Uri.AbsolutePath.EndsWith("/api/notifications")
                ? new TransportResponse(400)
                : null;

            // The page has two, so this device has not asked for the third.
            await WithdrawAsync(device, ids[2]);
            Assert.That(await app.Client.WaitingAsync(), Is.EqualTo(ids.Take(2)));
            Assert.That(device.Server.Count("HEAD "), Is.EqualTo(0));
            device.Server.Intercept = request => null;
            await WithdrawAsync(device, ids[0]);
            await WithdrawAsync(device, ids[1]);
            Assert.That(device.Screen.Visible, Is.EquivalentTo(ids.Take(2)));
            Assert.That(device.Screen.Secrets, Has.Count.EqualTo(2));
        });

        /// <summary>
        /// Another device reads while this one fetches: the answer says that it was read. If it comes late, the server
        /// is not asked about the withdrawal in the meantime.
        /// </summary>
        [TestCase(false)]
        [TestCase(true)]
        public void AWithdrawalDuringTheFetchOfALaterReaderWins(bool isLate) => Run(async device =>
        {
            device.Server.Intercept = request =>
                isLate && request.Uri.Query == "?include=unread" && device.Server.Count("GET /api/notifications/") == 1
                    ? new TransportResponse(429)
                    : null;
            await WithdrawMeanwhileAsync(device, wasRead: true);
            Assert.That(device.Screen.Secrets, Is.Empty);
            Assert.That(await device.Start().Client.WaitingAsync(), Is.Empty);
        });

        /// <summary>The withdrawal is the echo of this device's own fetch.</summary>
        [Test]
        public void AWithdrawalDuringTheFirstFetchDoesNotLoseTheSecret() => Run(async device =>
        {
            await WithdrawMeanwhileAsync(device, wasRead: false);
            Assert.That(device.Screen.Visible, Has.Count.EqualTo(1));
            Assert.That(device.Screen.Secrets, Has.Count.EqualTo(1));
        });

        private static async Task WithdrawMeanwhileAsync(SimulatedDevice device, bool wasRead)
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            device.Server.Find(id).IsRead = wasRead;
            var app = device.Start();
            var wake = app.Client.HandleAsync(device.Push(id));
            await device.Clock.SleepAsync(0.02, CancellationToken.None);
            await app.Client.HandleAsync(device.Push(id, true));
            await wake;
        }
    }
}
