using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>
    /// One cell of the table: a wake with one fault at one stage, and afterwards a device on which everything works
    /// again.
    /// </summary>
    public sealed class FaultCell
    {
        private Fault fault;
        private Stage stage;
        private FaultLength length;
        private Way way;
        private ulong seed;

        /// <summary>How the push reaches the client.</summary>
        public enum Way
        {
            /// <summary>The app runs.</summary>
            App,

            /// <summary>Windows starts the background task.</summary>
            Task,

            /// <summary>
            /// The app runs. With <c>DISPATCH_WITHDRAW=read</c> the next wakes are withdrawals of what the server saw
            /// fetched.
            /// </summary>
            Echo,
        }

        /// <summary>
        /// A push whose signature seems to be more than 28 days old, or of more than a day ahead, is ignored (contract,
        /// section A).
        /// </summary>
        private bool LooksOutOfTime =>
            (fault.Kind == FaultKind.ClockForward || fault.Kind == FaultKind.ClockBack)
            && (stage == Stage.Parse || stage == Stage.Verify || stage == Stage.Store
                || stage == Stage.TimeWillExpire);

        /// <summary>
        /// Shown IDs are forgotten when the state is damaged. A push that the server repeats then shows the secret
        /// again.
        /// </summary>
        private bool MayForget => fault.Kind == FaultKind.StoreCorrupt;

        /// <summary>The cells of the table. Only the background task can be cancelled.</summary>
        public static IEnumerable<FaultCell> All(params ulong[] seeds) =>
            from fault in Fault.All
            from stage in (Stage[])System.Enum.GetValues(typeof(Stage))
            from length in new[] { FaultLength.Once, FaultLength.Lasting }
            from way in (Way[])System.Enum.GetValues(typeof(Way))
            where way == Way.Task || stage != Stage.TimeWillExpire
            from seed in seeds
            select new FaultCell { fault = fault, stage = stage, length = length, way = way, seed = seed };

        public override string ToString() =>
            fault + " at " + stage + ", " + length + ", " + way + ", seed " + seed;

        public Observation Run()
        {
            var device = new SimulatedDevice();
            var seen = new Observation { HasFault = fault.Kind != FaultKind.None };
            SimulatedScheduler.Run(device.Clock, () => ObserveAsync(device, seen), seed);
            return seen;
        }

        /// <summary>What is wrong with what was seen.</summary>
        public IEnumerable<string> Wrong(Observation seen)
        {
            if (!seen.Struck && seen.HasFault)
            {
                yield return "the fault did not strike";
            }

            if (seen.Completions != 1)
            {
                yield return seen.Completions + " completions";
            }

            if (seen.Seconds > 28)
            {
                yield return seen.Seconds + " s";
            }

            if (seen.Shown > 1)
            {
                yield return "shown " + seen.Shown + " times";
            }

            if (seen.Shown == 0 && seen.Hints == 0 && !LooksOutOfTime)
            {
                yield return "the user sees nothing";
            }

            if (seen.StrayRequests > 0 || seen.Leaks > 0)
            {
                yield return seen.StrayRequests + " stray requests, " + seen.Leaks + " texts that are nobody's";
            }

            if (seen.FinallyShown.Any(count => count < 1 || count > (MayForget ? 2 : 1)))
            {
                yield return "finally shown " + string.Join(", ", seen.FinallyShown);
            }
        }

        private async Task ObserveAsync(SimulatedDevice device, Observation seen)
        {
            var plan = new FaultPlan(fault, stage, length, device.Clock, device.Disk);
            var missed = device.Server.Send();
            var pushed = device.Server.Send();
            await PrepareAsync(device);
            var push = device.Raw(pushed);
            var app = device.Start(faults: plan);
            plan.Attack = () => HostilePush.All(pushed).ToList().ForEach(
                hostile => app.Client.HandleAsync(hostile).Forget());
            plan.Reach(Stage.Parse);
            await WakeAsync(device, app, plan, push, seen);
            seen.Struck = plan.HasStruck;
            seen.Shown = device.Screen.TimesShown(pushed);
            seen.Hints = device.Screen.Hints;
            await RecoverAsync(device, plan, new[] { missed, pushed }, app);
            seen.FinallyShown = new[] { missed, pushed }.Select(device.Screen.TimesShown).ToList();
            seen.StrayRequests = device.Server.StrayRequests;
            seen.Leaks = device.Screen.Secrets.Count(
                secret => device.Server.Notifications.All(entry => entry.Json != secret.Json));
        }

        /// <summary>
        /// Before the push: the user has logged in; the access token is good, expired, refused or gone.
        /// </summary>
        private async Task PrepareAsync(SimulatedDevice device)
        {
            await device.LogInAsync();
            switch (stage)
            {
                case Stage.Resume:
                    device.Server.EndSessions();
                    break;
                case Stage.Token:
                    device.Clock.DateOffset += 2 * 3600;
                    break;
                case Stage.Refresh:
                    device.Server.RevokeAccessTokens();
                    break;
            }
        }

        private async Task WakeAsync(
            SimulatedDevice device, SimulatedDevice.App app, FaultPlan plan, string push, Observation seen)
        {
            plan.Reach(Stage.Verify);
            plan.Reach(Stage.TimeWillExpire);
            var begin = device.Clock.Uptime;
            SimulatedDevice.TaskRun run = null;
            if (way == Way.Task)
            {
                run = await device.RunTaskAsync(push, app, stage == Stage.TimeWillExpire ? 2 : 30);
                seen.Seconds = run.Seconds;
            }
            else
            {
                await app.Client.HandleAsync(IncomingPush.FromRaw(push));
                seen.Completions++;
                seen.Seconds = device.Clock.Uptime - begin;
            }

            if (stage == Stage.Resume)
            {
                // The prompt is on the screen; the user logs in, and then it goes wrong.
                await device.LogInAsync();
                plan.Reach(Stage.Resume);
                begin = device.Clock.Uptime;
                await app.Client.ResumeAfterLogInAsync();
                seen.Seconds = device.Clock.Uptime - begin;
            }

            // Whatever still runs must not complete again.
            await device.Clock.SleepAsync(60, CancellationToken.None);
            seen.Completions += run?.Completions ?? 0;
        }

        /// <summary>
        /// Everything works again, a minute later: the withdrawals that follow a fetch come, the app comes to the
        /// front, and the user logs in if that is needed.
        /// </summary>
        private async Task RecoverAsync(
            SimulatedDevice device, FaultPlan plan, PushId[] ids, SimulatedDevice.App first)
        {
            plan.Heal();
            await device.Clock.SleepAsync(60, CancellationToken.None);

            // What could not be stored is in the memory of the process. If that ends first, a secret may be shown
            // again.
            var isUnsaved = fault.Kind == FaultKind.StoreFull || fault.Kind == FaultKind.StoreReadOnly
                || fault.Kind == FaultKind.StoreHangs || fault.Kind == FaultKind.StoreThrows;
            var app = isUnsaved ? first : device.Start();
            if (way == Way.Echo)
            {
                await device.EchoReadsAsync(() => app);
            }

            var report = await app.Client.CatchUpAsync();
            await device.Clock.SleepAsync(60, CancellationToken.None);
            var code = report.Code?.ToString();
            if (device.Screen.IsPrompting || code == "SP-LOGIN" || code == "SP-401")
            {
                await device.LogInAsync();
                await app.Client.ResumeAfterLogInAsync();
            }

            // The sender repeats its push; what was shown must not be shown again, also not by another process.
            var next = device.Start();
            foreach (var id in ids)
            {
                await next.Client.HandleAsync(device.Push(id));
            }

            await next.Client.CatchUpAsync();
        }

        /// <summary>What was seen.</summary>
        public sealed class Observation
        {
            public bool HasFault { get; set; }

            public bool Struck { get; set; }

            public int Completions { get; set; }

            public double Seconds { get; set; }

            /// <summary>How often the secret of the push was shown in the wake.</summary>
            public int Shown { get; set; }

            public int Hints { get; set; }

            /// <summary>How often each of the two secrets was shown, after everything worked again.</summary>
            public IReadOnlyList<int> FinallyShown { get; set; }

            public int StrayRequests { get; set; }

            public int Leaks { get; set; }
        }
    }
}
