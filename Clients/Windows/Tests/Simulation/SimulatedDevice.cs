using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using SecurePush.Uwp;
using Windows.ApplicationModel.Background;
using Windows.Networking.PushNotifications;

namespace SecurePush.Tests
{
    /// <summary>A device, its user and the server. Processes come and go.</summary>
    public sealed class SimulatedDevice
    {
        private static readonly PushSigner Signer = new PushSigner(
            Enumerable.Range(1, 32).Select(i => (byte)i).ToArray());
        private static readonly LibCrypto Cryptography = new LibCrypto();

        public SimulatedDevice()
        {
            Server.PushKeys = Signer.JwkSet;
        }

        /// <summary>Runs a test on a device of its own, in simulated time.</summary>
        public static void Run(Func<SimulatedDevice, Task> test)
        {
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, () => test(device));
        }

        /// <summary>The keys of the configuration.</summary>
        public PublicKeySet Keys => Signer.Keys;

        /// <summary>A sender whose clock is the device's.</summary>
        public TestSender Sender => new TestSender { At = (long)Clock.UnixTime };

        public SimulatedClock Clock { get; } = new SimulatedClock();

        public SimulatedDisk Disk { get; } = new SimulatedDisk();

        public SimulatedScreen Screen { get; } = new SimulatedScreen();

        public SimulatedServer Server { get; } = new SimulatedServer();

        public FaultPlan NoFaults => new FaultPlan(Fault.None, Stage.Parse, FaultLength.Once, Clock, Disk);

        /// <summary>Starts a process. It belongs to the simulation in which this is called.</summary>
        /// <param name="diesAt">Where it dies; 0: nowhere.</param>
        /// <param name="faults">What goes wrong in it; <c>null</c>: nothing.</param>
        /// <param name="adjust">Changes the configuration.</param>
        public App Start(int diesAt = 0, FaultPlan faults = null, Action<SecurePushConfiguration> adjust = null)
        {
            faults = faults ?? NoFaults;
            var process = new SimulatedProcess(diesAt);
            var store = new SimulatedStore(Disk, process, faults);
            var transport = new SimulatedTransport(Server, Clock, process, faults);
            var credentials = new TokenCredentialsProvider(SimulatedServer.Url, store, transport, Clock, true);
            var configuration = new SecurePushConfiguration(SimulatedServer.Url) { PushKeys = Signer.Keys };
            adjust?.Invoke(configuration);
            var client = new SecurePushClient(
                configuration, credentials, store, transport, new SimulatedPresenter(Screen, process, faults), Clock,
                Cryptography, TaskScheduler.Current);
            return new App { Process = process, Client = client, Credentials = credentials };
        }

        /// <summary>The user logs in, in a process that nothing goes wrong in.</summary>
        public Task LogInAsync() =>
            Start().Credentials.LogInAsync(SimulatedServer.User, SimulatedServer.Password);

        /// <summary>The content of a raw notification of the server, signed now.</summary>
        public string Raw(PushId id, bool isWithdrawal = false) => Signer.Raw(id, Clock.UnixTime, isWithdrawal);

        public IncomingPush Push(PushId id, bool isWithdrawal = false) => IncomingPush.FromRaw(Raw(id, isWithdrawal));

        /// <summary>
        /// The withdrawals that follow when secrets were fetched (<c>DISPATCH_WITHDRAW=read</c>) arrive, each in this
        /// process.
        /// </summary>
        public async Task EchoReadsAsync(Func<App> process)
        {
            foreach (var id in Server.Notifications.Where(entry => entry.IsRead).Select(entry => entry.Id).ToList())
            {
                await process().Client.HandleAsync(Push(PushId.From(id), true));
            }
        }

        /// <summary>
        /// What Windows does with a raw notification when the app does not run: it starts the background task, and
        /// cancels it when its time is up.
        /// </summary>
        /// <param name="content">The content.</param>
        /// <param name="app">The process. If it is dead at the end, the deferral was not completed.</param>
        /// <param name="expiresAfter">After this time Windows cancels the task, in seconds.</param>
        /// <param name="afterwards">How long to watch for more completions, in seconds.</param>
        public async Task<TaskRun> RunTaskAsync(
            string content, App app, double expiresAfter = 30, double afterwards = 0)
        {
            var begin = Clock.Uptime;
            var run = new TaskRun();
            var instance = new SimulatedTaskInstance(new RawNotification(content), completed =>
            {
                run.Seconds = run.Completions == 0 ? Clock.Uptime - begin : run.Seconds;
                run.Completions++;
            });
            CancelAsync(instance, expiresAfter).Forget();
            await RawPushTask.RunAsync(instance, app.Client);
            await Clock.SleepAsync(afterwards, CancellationToken.None);
            return run;
        }

        private async Task CancelAsync(SimulatedTaskInstance instance, double seconds)
        {
            await Clock.SleepAsync(seconds, CancellationToken.None);
            instance.Cancel(BackgroundTaskCancellationReason.ExecutionTimeExceeded);
        }

        /// <summary>What Windows saw of a background task.</summary>
        public sealed class TaskRun
        {
            public int Completions { get; set; }

            /// <summary>The seconds until the first completion.</summary>
            public double Seconds { get; set; }
        }

        /// <summary>The app or the background task: one process with a client of its own.</summary>
        public sealed class App
        {
            public SimulatedProcess Process { get; set; }

            public SecurePushClient Client { get; set; }

            public TokenCredentialsProvider Credentials { get; set; }
        }
    }
}
