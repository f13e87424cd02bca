using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>Many pushes at the same time, in many orders of events.</summary>
    [TestFixture]
    public sealed class ConcurrentPushTests
    {
        private const int Pushes = 50;

        /// <summary>
        /// In each run every push comes twice, once to the app and once to the background task. They are two processes
        /// with one store, and the access token is refused at first.
        /// </summary>
        [Test]
        public void FiftyPushesAtOnceShowEachSecretOnce()
        {
            int shown = 0, inboxes = 0, refreshes = 0, completions = 0;
            var slowest = 0.0;
            var complaints = new List<string>();
            for (ulong seed = 0; seed < 5; seed++)
            {
                var device = new SimulatedDevice();
                SimulatedScheduler.Run(device.Clock, async () =>
                {
                    await device.LogInAsync();
                    device.Server.RevokeAccessTokens();
                    var ids = Enumerable.Range(0, Pushes).Select(_ => device.Server.Send()).ToList();
                    SimulatedDevice.App app = device.Start(), task = device.Start();
                    var begin = device.Clock.Uptime;
                    var runs = ids.Select(id => device.RunTaskAsync(device.Raw(id), task)).ToList();
                    var reports = ids.Select(id => app.Client.HandleAsync(device.Push(id))).ToList();
                    await Task.WhenAll(runs);
                    await Task.WhenAll(reports);
                    var elapsed = device.Clock.Uptime - begin;
                    await device.Start().Client.CatchUpAsync();
                    var counts = ids.Select(device.Screen.TimesShown).ToList();
                    shown += counts.Sum();
                    completions += runs.Sum(run => run.Result.Completions);
                    inboxes += device.Server.Count("GET /api/notifications?");
                    refreshes += device.Server.Count("POST /api/token") - 1;
                    slowest = Math.Max(slowest, elapsed);
                    if (counts.Any(count => count != 1) || elapsed > 28
                        || runs.Any(run => run.Result.Completions != 1))
                    {
                        complaints.Add("seed " + seed + ": shown " + string.Join(" ", counts) + ", " + elapsed + " s");
                    }
                }, seed);
            }

            Console.WriteLine(
                "{0} notifications, each pushed twice at once, in 5 orders of events: {1} secrets shown "
                + "({2} expected), {3} tasks completed once, {4} inbox requests, {5} refreshes, slowest {6:0.00} s. "
                + "Wrong: {7}.",
                Pushes, shown, 5 * Pushes, completions, inboxes, refreshes, slowest, complaints.Count);
            Assert.That(complaints, Is.Empty);
            Assert.That(refreshes, Is.EqualTo(5));
        }
    }
}
