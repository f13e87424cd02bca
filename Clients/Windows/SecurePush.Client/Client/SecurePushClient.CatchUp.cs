using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Fetches what pushes have not brought.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>Two thousand notifications. The next wake goes on.</summary>
        private const int MaxPages = 10;

        /// <summary>
        /// Fetches what is in the inbox and what waits, and shows it. One run serves all wakes that came before it
        /// began.
        /// </summary>
        private async Task<WakeReport> CatchUpAsync(Wake wake)
        {
            var isJoined = catchUpRun != null && catchUpRun.LastWake >= wake.Number
                && catchUpRun.UserChanges >= wake.UserChanges;
            var task = isJoined ? catchUpRun.Task : StartCatchUp(wake);
            try
            {
                var end = wake.Deadline + Wake.SecondsAfterRequests;
                var report = await TimeLimit.RunAsync(end, clock, wake.Cancellation, token => task);

                // The wake that began the run reports the notifications.
                return isJoined ? report.WithoutNotifications() : report;
            }
            catch (Exception error) when (error is TransportException || error is OperationCanceledException)
            {
                return new WakeReport(WakeResult.Failed, DiagnosticCode.TimedOut);
            }
        }

        private Task<WakeReport> StartCatchUp(Wake first)
        {
            var earlier = catchUpRun?.Task;
            var run = new CatchUpRun { LastWake = wakes, UserChanges = first.UserChanges };

            // It serves other wakes, too, so it goes on if the system takes away the time of the first one.
            var wake = new Wake(first.Number, first.Deadline) { UserChanges = first.UserChanges };
            catchUpRun = run;

            // Not before this method has returned, so that wakes that come now can join.
            run.Task = Serial(async () =>
            {
                if (earlier != null)
                {
                    await earlier;
                }

                return await RunCatchUpAsync(wake);
            });
            return run.Task;
        }

        private async Task<WakeReport> RunCatchUpAsync(Wake wake)
        {
            await ResolveDoubtsAsync();
            await ConfirmWithdrawalsAsync(wake.Deadline);
            var report = new WakeReport();
            var listing = new Listing();
            DiagnosticCode failure = null;
            try
            {
                await ListAsync(listing, wake);
            }
            catch (SecurePushException error)
            {
                failure = error.Code;
            }

            if (!await IsCurrentAsync(wake))
            {
                return report;
            }

            if (failure != null)
            {
                // What waits is not lost; the next wake tries again.
                var waiting = failure.AsksForLogIn ? (await ReadOrNullAsync())?.Ledger.Waiting : null;
                return waiting != null && waiting.Count > 0
                    ? await PromptAsync(waiting, failure)
                    : new WakeReport(WakeResult.Failed, failure);
            }

            if (listing.Found.Count > 1)
            {
                report.Add(await ShowPagesAsync(listing, wake));
            }

            if (report.Code == null)
            {
                report.Add(await ShowWaitingAsync(listing, report.Shown.Count, wake));
            }

            if (report.Code == null && await WaitForClaimsAsync(wake.Deadline))
            {
                report.Add(await ShowWaitingAsync(listing, report.Shown.Count, wake));
            }

            if (await IsCurrentAsync(wake))
            {
                await SetBadgeAsync(listing.Unread);
            }

            return report;
        }

        /// <summary>
        /// Waits until other processes' claims have expired, and then checks whether the secrets were shown. Tells
        /// whether there were any, and there was time for them.
        /// </summary>
        private async Task<bool> WaitForClaimsAsync(double deadline)
        {
            var state = await ReadOrNullAsync();
            var seconds = state?.Ledger.SecondsOfClaims(process, clock.Uptime, Limits);
            if (seconds == null || clock.Uptime + seconds.Value >= deadline)
            {
                return false;
            }

            await clock.SleepAsync(seconds.Value, CancellationToken.None);
            await ResolveDoubtsAsync();
            return true;
        }

        /// <summary>
        /// Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is
        /// stored as waiting.
        /// </summary>
        private async Task ListAsync(Listing listing, Wake wake)
        {
            var state = await ReadOrNullAsync() ?? throw new SecurePushException(DiagnosticCode.Locked);
            if (state.UserChanges > wake.UserChanges)
            {
                // A wake of the new user lists that user's inbox.
                return;
            }

            listing.Anchor = state.Cursor;
            listing.UserChanges = state.UserChanges;
            await ListPagesAsync(listing, state.Cursor, state.Cursor == null, wake.Deadline);

            // A delayed notification (NotBefore) is older than the last seen one. It is unread, and not known here.
            if (state.Cursor != null && listing.Unread > ((await ReadOrNullAsync())?.Ledger.Waiting.Count ?? 0))
            {
                await ListPagesAsync(listing, null, true, wake.Deadline);
            }
        }

        private async Task ListPagesAsync(Listing listing, PushId after, bool isUnreadOnly, double deadline)
        {
            for (var count = 0; count < MaxPages; count++)
            {
                var page = await PageAsync("Limit=" + InboxAnswer.MaxEntries, isUnreadOnly, after, deadline);
                listing.Unread = page.Unread;
                var ids = page.Entries.Select(entry => entry.Id).ToList();
                var waiting = await LearnAsync(listing, ids, !isUnreadOnly || listing.Anchor == null);
                var last = ids.LastOrDefault();

                // The rest comes at the next wake: more IDs would push waiting ones out of the ledger. It is also the
                // end if the user has changed since the request.
                if (waiting == null || !page.HasNext || last == null || last == after
                    || waiting >= Limits.MaxRememberedIds / 2)
                {
                    return;
                }

                after = last;
            }
        }

        /// <summary>
        /// Stores new notifications as waiting, and returns how many wait; <c>null</c> if the user has changed.
        /// </summary>
        private async Task<int?> LearnAsync(Listing listing, List<PushId> ids, bool movesCursor)
        {
            var now = clock.Uptime;
            var learned = await UpdateOrDefaultAsync(
                state =>
                {
                    if (state.UserChanges != listing.UserChanges)
                    {
                        return null;
                    }

                    var fresh = ids.Where(id => state.Ledger.Find(id) == null).Distinct().ToList();
                    foreach (var id in ids)
                    {
                        state.Ledger.Learn(id, now, Limits);
                    }

                    // The listing of delayed notifications is behind the cursor and does not move it. A device that has
                    // seen no page yet begins after the newest notification that it has shown.
                    if (movesCursor)
                    {
                        state.Cursor = ids.LastOrDefault() ?? state.Cursor ?? state.Ledger.LastShown;
                    }

                    return new { fresh, waiting = state.Ledger.Waiting.Count };
                }, null);
            listing.Found.AddRange((learned?.fresh ?? new List<PushId>()).Where(id => !listing.Found.Contains(id)));
            return learned?.waiting;
        }

        private async Task<InboxAnswer> PageAsync(string query, bool isUnreadOnly, PushId after, double deadline)
        {
            var outcome = await connection.SendAsync(PageCall(query, isUnreadOnly, after), deadline);
            return InboxAnswer.Read(outcome.OrThrow().Body);
        }

        private static RetrievalCall PageCall(string query, bool isUnreadOnly, PushId after)
        {
            query += (isUnreadOnly ? "&Unread=true" : "") + (after != null ? "&After=" + after : "");
            return new RetrievalCall("GET", "api/notifications", query);
        }

        /// <summary>Fetches and shows what waits, one by one, until something fails for all.</summary>
        private async Task<WakeReport> ShowWaitingAsync(Listing listing, int shown, Wake wake)
        {
            var report = new WakeReport();
            var order = (await ReadOrNullAsync())?.Ledger.FetchOrder ?? new List<PushId>();
            foreach (var id in order.Where(id => !underWay.Contains(id)))
            {
                if (shown + report.Shown.Count >= Limits.MaxShownPerWake || !underWay.Add(id))
                {
                    break;
                }

                var end = Math.Min(wake.Deadline, clock.Uptime + Limits.SecondsPerTry);
                var acquisition = await AcquireAsync(id, wake, end);
                listing.Unread = acquisition.Unread ?? listing.Unread;
                if (acquisition.Kind == AcquisitionKind.LoggedOut)
                {
                    underWay.Remove(id);
                    var waiting = (await ReadOrNullAsync())?.Ledger.Waiting ?? new List<PushId> { id };
                    report.Add(await PromptAsync(waiting, acquisition.Code));
                    break;
                }

                var step = await FinishAsync(acquisition, id, wake);
                report.Add(step);
                if (step.Code != null && !step.Code.AllowsCatchUp)
                {
                    break;
                }
            }

            return report;
        }

        /// <summary>A catch-up that runs or has run.</summary>
        private sealed class CatchUpRun
        {
            /// <summary>The last wake that came before it began.</summary>
            public int LastWake { get; set; }

            /// <summary>Those of the wake that began it.</summary>
            public int UserChanges { get; set; }

            public Task<WakeReport> Task { get; set; }
        }

        /// <summary>The new notifications of the inbox. They are stored as waiting.</summary>
        private sealed class Listing
        {
            /// <summary>The count of the state when it began.</summary>
            public int UserChanges { get; set; }

            /// <summary>
            /// The notification after which the new ones come; <c>null</c> for the first listing of this device, which
            /// is of unread notifications only.
            /// </summary>
            public PushId Anchor { get; set; }

            public List<PushId> Found { get; } = new List<PushId>();

            public int Unread { get; set; }
        }
    }
}
