using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Receives secrets: verifies pushes, fetches, shows each secret once, and keeps the device registered.
    /// Everything that it uses is injected. Make one per process; the app and its background task share the store. It
    /// may be called on any thread.
    /// </summary>
    public sealed partial class SecurePushClient
    {
        private readonly SecurePushConfiguration configuration;
        private readonly ICredentialsProvider credentials;
        private readonly BoundedStore store;
        private readonly IClientClock clock;
        private readonly INotificationPresenter presenter;
        private readonly IClientCryptography cryptography;
        private readonly StateKeeper keeper;
        private readonly RetrievalConnection connection;
        private readonly ITransport transport;
        private readonly TaskScheduler scheduler;
        private readonly CallLimit userNameLimit;
        private readonly CallLimit keyLimit;

        /// <summary>Names this client in the claims of the store. Another process has another name.</summary>
        private readonly string process;

        /// <summary>The notifications that are being fetched or shown now.</summary>
        private readonly HashSet<PushId> underWay = new HashSet<PushId>();

        /// <summary>The catch-up that runs now or was the last.</summary>
        private CatchUpRun catchUpRun;
        private int wakes;

        /// <summary>Makes a client.</summary>
        /// <param name="configuration">The server and the app.</param>
        /// <param name="credentials">The user's credentials.</param>
        /// <param name="store">The memory between wakes.</param>
        /// <param name="transport">Sends the requests.</param>
        /// <param name="presenter">Shows the notifications.</param>
        /// <param name="clock">The time; the system's if it is <c>null</c>.</param>
        /// <param name="cryptography">The algorithms; those of the platform if it is <c>null</c>.</param>
        /// <param name="scheduler">
        /// Runs the client's work, one step at a time; the thread pool if it is <c>null</c>.
        /// </param>
        public SecurePushClient(
            SecurePushConfiguration configuration, ICredentialsProvider credentials, IClientStore store,
            ITransport transport, INotificationPresenter presenter, IClientClock clock = null,
            IClientCryptography cryptography = null, TaskScheduler scheduler = null)
        {
            this.configuration = configuration;
            this.credentials = credentials;
            this.clock = clock ?? new SystemClientClock();
            this.store = new BoundedStore(store, this.clock);
            this.presenter = new BoundedPresenter(presenter, this.clock);
            this.cryptography = cryptography ?? new PlatformCryptography();
            this.scheduler = scheduler ?? new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
            process = ProcessName.New(this.clock);
            userNameLimit = new CallLimit(this.clock);
            keyLimit = new CallLimit(this.clock);
            this.transport = transport;
            keeper = new StateKeeper(this.store);
            connection = new RetrievalConnection(
                configuration.RetrievalUrl, configuration.Limits, credentials, transport, this.clock);
        }

        /// <summary>Whether pushes and withdrawals are signed.</summary>
        private bool AreSigned => configuration.PushKeys != null;

        private ClientLimits Limits => configuration.Limits;

        /// <summary>
        /// Handles a push: fetches and shows the secret, and then the inbox after the last known notification. A
        /// withdrawal removes the notification from the screen.
        /// It never throws: if there is no secret, the user sees the generic text or the prompt, and the report says
        /// why.
        /// </summary>
        /// <param name="push">The push.</param>
        /// <param name="expiration">
        /// Cancelled when the system takes the time away: the user then sees the generic text at once.
        /// </param>
        /// <returns>After at most <see cref="ClientLimits.SecondsInTotal"/>.</returns>
        public Task<WakeReport> HandleAsync(
            IncomingPush push, CancellationToken expiration = default(CancellationToken)) =>
            Serial(() => ReceiveUntilAsync(push, Begin(), expiration));

        /// <summary>
        /// Fetches the inbox and everything that waits, and removes the prompt if that succeeds. Call it when the app
        /// starts and when it comes to the foreground.
        /// </summary>
        /// <param name="cancellation">Ends the wait. Fetched secrets are still shown.</param>
        /// <returns>After at most <see cref="ClientLimits.SecondsInTotal"/>.</returns>
        public Task<WakeReport> CatchUpAsync(
            CancellationToken cancellation = default(CancellationToken)) => Serial(async () =>
        {
            var wake = Begin();
            var work = CatchUpAndEndAsync(wake);
            return await IsInTimeAsync(work, wake, cancellation)
                ? await work
                : new WakeReport(WakeResult.Failed, DiagnosticCode.TimedOut);
        });

        /// <summary>
        /// Shows everything that waits for the log-in, and removes the prompt. Call it after the user has logged in. If
        /// another user has logged in, the notifications of the last one are forgotten and removed from the screen.
        /// </summary>
        /// <param name="cancellation">Ends the wait. Fetched secrets are still shown.</param>
        /// <returns>After at most <see cref="ClientLimits.SecondsInTotal"/>.</returns>
        public Task<WakeReport> ResumeAfterLogInAsync(CancellationToken cancellation = default(CancellationToken)) =>
            CatchUpAsync(cancellation);

        /// <summary>
        /// The notifications that wait: those behind the prompt, and those that could not be fetched yet; oldest first.
        /// </summary>
        public Task<IReadOnlyList<PushId>> WaitingAsync() => Serial(async () =>
        {
            var state = await ReadOrNullAsync();
            return (IReadOnlyList<PushId>)(state?.Ledger.Waiting ?? new List<PushId>());
        });

        private Wake Begin()
        {
            wakes++;
            return new Wake(wakes, clock.Uptime + Limits.SecondsInTotal - Wake.SecondsAfterRequests);
        }

        private async Task<WakeReport> CatchUpAndEndAsync(Wake wake)
        {
            try
            {
                wake.UserChanges = (await AdoptUserAsync()).Changes;
            }
            catch (ClientStoreException)
            {
                return await ShowLockedNoticeAsync();
            }

            var report = await CatchUpAsync(wake);
            await RenewKeyAsync(wake);
            if (report.Code == null || (!report.Code.AsksForLogIn && !report.Code.Equals(DiagnosticCode.Locked)))
            {
                await UpdateOrDefaultAsync(state => state.IsPrompted = false, false);
                await Quietly(() => presenter.RemovePromptAsync());
            }

            return await EndAsync(wake, report);
        }

        /// <summary>
        /// Tells the server what was shown and who has logged out, settles what was withdrawn in the meantime, and
        /// reads the server's keys for pushes if those that are stored are old.
        /// </summary>
        private async Task<WakeReport> EndAsync(Wake wake, WakeReport report)
        {
            await ReportShownAsync(wake.Deadline);
            await FinishDeparturesAsync(wake.Deadline);
            await ConfirmWithdrawalsAsync(wake.Deadline);
            await RefreshOldPushKeysAsync(wake.Deadline);
            return report;
        }

        /// <summary>
        /// Whether the user is still the one for whom the wake began. A damaged store begins at 0 again.
        /// </summary>
        private async Task<bool> IsCurrentAsync(Wake wake) =>
            ((await ReadOrNullAsync())?.UserChanges ?? 0) <= wake.UserChanges;

        /// <summary>Shows that messages may be waiting: once per start of the device.</summary>
        private async Task<WakeReport> ShowLockedNoticeAsync()
        {
            if (await store.ClaimLockedNoticeAsync())
            {
                await ShowAsync(new GenericNotice(null, configuration.Texts.Locked, DiagnosticCode.Locked));
            }

            return new WakeReport(WakeResult.Failed, DiagnosticCode.Locked);
        }

        private Task SetBadgeAsync(int count) => Quietly(() => presenter.SetBadgeAsync(count));

        /// <summary>Shows a notice. If the system refuses, there is nothing else to show.</summary>
        private Task ShowAsync(GenericNotice notice) => Quietly(() => presenter.ShowAsync(notice));

        /// <summary>Runs work on the client's scheduler: one step at a time, so that no lock is needed.</summary>
        private Task<T> Serial<T>(Func<Task<T>> work) =>
            Task.Factory.StartNew(work, CancellationToken.None, TaskCreationOptions.None, scheduler).Unwrap();

        /// <summary>The state; <c>null</c> if it is locked.</summary>
        private async Task<ClientState> ReadOrNullAsync()
        {
            try
            {
                return await keeper.ReadAsync();
            }
            catch (ClientStoreException)
            {
                return null;
            }
        }

        /// <summary>Changes the state, and returns another value if it is locked.</summary>
        private async Task<T> UpdateOrDefaultAsync<T>(Func<ClientState, T> change, T otherwise)
        {
            try
            {
                return await keeper.UpdateAsync(change);
            }
            catch (ClientStoreException)
            {
                return otherwise;
            }
        }

        /// <summary>Calls the presenter, whose failure changes nothing.</summary>
        private static async Task Quietly(Func<Task> call)
        {
            try
            {
                await call();
            }
            catch (Exception)
            {
                // The system has no screen for the app now. The next wake shows what matters.
            }
        }
    }
}
