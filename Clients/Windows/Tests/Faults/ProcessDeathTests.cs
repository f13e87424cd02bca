using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// A process dies before or after any call of its store, transport or presenter. Later Windows starts it again.
    /// </summary>
    [TestFixture]
    public sealed class ProcessDeathTests
    {
        /// <summary>How a wake begins.</summary>
        public enum Scenario
        {
            /// <summary>A push to the app, while another secret waits in the inbox.</summary>
            App,

            /// <summary>A push to the background task, while another secret waits in the inbox.</summary>
            Task,

            /// <summary>The access token is refused, so the wake refreshes it.</summary>
            Refresh,

            /// <summary>The user logs in after a prompt.</summary>
            Resume,

            /// <summary>The sender withdraws what is on the screen.</summary>
            Withdrawal,

            /// <summary>
            /// A push to the app. With <c>DISPATCH_WITHDRAW=read</c> the server withdraws what the dead process has
            /// asked for.
            /// </summary>
            ReadEcho,

            /// <summary>The same, for several secrets in the inbox that the app fetches with one request.</summary>
            PageEcho,
        }

        [Test]
        public void DeathBetweenAnyTwoStepsLosesNothingAndShowsNothingTwice()
        {
            var deaths = new Dictionary<Scenario, int>();
            var complaints = new List<string>();
            foreach (Scenario scenario in Enum.GetValues(typeof(Scenario)))
            {
                deaths[scenario] = 0;
                foreach (ulong seed in new ulong[] { 0, 1 })
                {
                    for (var point = 1; Dies(scenario, point, seed, complaints); point++)
                    {
                        deaths[scenario]++;
                    }
                }
            }

            Console.WriteLine(
                "Process deaths: {0} ({1}). Lost or shown twice: {2}.", deaths.Values.Sum(),
                string.Join(", ", deaths.Select(pair => pair.Key + " " + pair.Value)), complaints.Count);
            Assert.That(complaints, Is.Empty, string.Join("\n", complaints.Take(20)));
            Assert.That(deaths.Values.Sum(), Is.GreaterThan(200));
        }

        /// <summary>Whether the process died there; false if the wake has no such point.</summary>
        private static bool Dies(Scenario scenario, int point, ulong seed, List<string> complaints)
        {
            var device = new SimulatedDevice();
            var hasDied = false;
            SimulatedScheduler.Run(device.Clock, async () =>
            {
                var missed = device.Server.Send();
                var pushed = device.Server.Send();
                await PrepareAsync(scenario, device, pushed);
                var app = device.Start(point);
                hasDied = !await app.Process.LiveAsync(() => WakeAsync(scenario, device, app, pushed));

                // The next wakes, each in a new process: the app, a repeated push, the app again.
                await device.Clock.SleepAsync(60, CancellationToken.None);
                if (scenario == Scenario.ReadEcho || scenario == Scenario.PageEcho)
                {
                    await device.EchoReadsAsync(() => device.Start());
                }

                await device.Start().Client.CatchUpAsync();
                if (device.Screen.IsPrompting)
                {
                    await device.LogInAsync();
                    await device.Start().Client.ResumeAfterLogInAsync();
                }

                await device.Clock.SleepAsync(60, CancellationToken.None);
                await device.Start().Client.HandleAsync(device.Push(missed));
                await device.Start().Client.HandleAsync(device.Push(pushed));
                await device.Start().Client.CatchUpAsync();
                var shown = device.Screen.TimesShown(missed) + " " + device.Screen.TimesShown(pushed);
                if (shown != "1 1")
                {
                    complaints.Add(
                        scenario + ", seed " + seed + ", point " + point + " (" + app.Process.Points.Last()
                        + "): shown " + shown);
                }
            }, seed);
            return hasDied;
        }

        /// <summary>Brings the device to the moment before the wake.</summary>
        private static async Task PrepareAsync(Scenario scenario, SimulatedDevice device, PushId pushed)
        {
            await device.LogInAsync();
            if (scenario == Scenario.Resume)
            {
                device.Server.EndSessions();
            }

            if (scenario == Scenario.Refresh)
            {
                device.Server.RevokeAccessTokens();
            }

            if (scenario == Scenario.Resume || scenario == Scenario.Withdrawal)
            {
                await device.Start().Client.HandleAsync(device.Push(pushed));
            }
        }

        /// <summary>The wake in which the process may die.</summary>
        private static async Task WakeAsync(
            Scenario scenario, SimulatedDevice device, SimulatedDevice.App app, PushId pushed)
        {
            switch (scenario)
            {
                case Scenario.Task:
                    await device.RunTaskAsync(device.Raw(pushed), app);
                    break;
                case Scenario.Resume:
                    await app.Credentials.LogInAsync(SimulatedServer.User, SimulatedServer.Password);
                    await app.Client.ResumeAfterLogInAsync();
                    break;
                case Scenario.Withdrawal:
                    device.Server.Find(pushed).IsRevoked = true;
                    await app.Client.HandleAsync(device.Push(pushed, true));
                    break;
                case Scenario.PageEcho:
                    await app.Client.CatchUpAsync();
                    break;
                default:
                    await app.Client.HandleAsync(device.Push(pushed));
                    break;
            }
        }
    }
}
