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
            var isJoined = catchUpRun != null && catchUpRun.LastWake >= wake.Number;
            var task = isJoined ? catchUpRun.Task : StartCatchUp(wake.Deadline);
            try
            {
                var report = await TimeLimit.RunAsync(wake.Deadline, clock, wake.Cancellation, token => task);

                // The wake that began the run reports the notifications.
                return isJoined ? report.WithoutNotifications() : report;
            }
            catch (Exception error) when (error is TransportException || error is OperationCanceledException)
            {
                return new WakeReport(WakeResult.Failed, DiagnosticCode.TimedOut);
            }
        }

        private Task<WakeReport> StartCatchUp(double deadline)
        {
            var earlier = catchUpRun?.Task;
            var run = new CatchUpRun { LastWake = wakes };
            catchUpRun = run;

            // Not before this method has returned, so that wakes that come now can join.
            run.Task = Serial(async () =>
            {
                if (earlier != null)
                {
                    await earlier;
                }

                return await RunCatchUpAsync(deadline);
            });
            return run.Task;
        }

        private async Task<WakeReport> RunCatchUpAsync(double deadline)
        {
            await ResolveDoubtsAsync();
            await ResolveQuestionsAsync(deadline);
            var report = new WakeReport();
            Listing listing;
            try
            {
                listing = await ListAsync(deadline);
            }
            catch (SecurePushException failure)
            {
                // What waits is not lost; the next wake tries again.
                var waiting = failure.Code.AsksForLogIn ? (await ReadOrNullAsync())?.Ledger.Waiting : null;
                return waiting != null && waiting.Count > 0
                    ? await PromptAsync(waiting, failure.Code)
                    : new WakeReport(WakeResult.Failed, failure.Code);
            }

            if (listing.Found.Count > 1)
            {
                report.Add(await ShowPagesAsync(listing, deadline));
            }

            if (report.Code == null)
            {
                report.Add(await ShowWaitingAsync(listing, report.Shown.Count, deadline));
            }

            if (report.Code == null && await OutwaitClaimsAsync(deadline))
            {
                report.Add(await ShowWaitingAsync(listing, report.Shown.Count, deadline));
            }

            await SetBadgeAsync(listing.Unread);
            return report;
        }

        /// <summary>
        /// Waits until the claims of other processes have expired, and finds out how they ended. Tells whether there
        /// were any, and there was time for them.
        /// </summary>
        private async Task<bool> OutwaitClaimsAsync(double deadline)
        {
            var state = await ReadOrNullAsync();
            var seconds = state?.Ledger.SecondsOfClaims(process, clock.UnixTime, Limits);
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
        private async Task<Listing> ListAsync(double deadline)
        {
            var state = await ReadOrNullAsync() ?? throw new SecurePushException(DiagnosticCode.Locked);
            var listing = new Listing { Anchor = state.Cursor, UserChanges = state.UserChanges };
            await ListPagesAsync(listing, state.Cursor, state.Cursor == null, deadline);

            // A delayed notification (NotBefore) is older than the last seen one. It is unread, and not known here.
            if (state.Cursor != null && listing.Unread > ((await ReadOrNullAsync())?.Ledger.Waiting.Count ?? 0))
            {
                await ListPagesAsync(listing, null, true, deadline);
            }

            return listing;
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

                // The rest comes at the next wake, so that nothing that waits is forgotten. It is also the end if
                // the user
                // has changed since the request.
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
            var now = clock.UnixTime;
            var learned = await UpdateOrDefaultAsync(
                state =>
                {
                    if (state.UserChanges != listing.UserChanges)
                    {
                        return null;
                    }

                    var fresh = ids.Where(id => state.Ledger.Find(id) == null).ToList();
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
            query += (isUnreadOnly ? "&Unread=true" : "") + (after != null ? "&After=" + after : "");
            var outcome = await connection.SendAsync(new RetrievalCall("GET", "api/notifications", query), deadline);
            return InboxAnswer.Read(outcome.OrThrow().Body);
        }

        /// <summary>
        /// Fetches many new notifications with few requests (<c>include=payload</c>). What does not come in this way is
        /// fetched one by one.
        /// </summary>
        private async Task<WakeReport> ShowPagesAsync(Listing listing, double deadline)
        {
            var report = new WakeReport();
            var requests = await UpdateOrDefaultAsync(
                state => listing.Found.ToDictionary(id => id, state.Request), new Dictionary<PushId, FetchRequest>());
            var after = listing.Anchor;
            while (requests.Count > 0 && report.Shown.Count < Limits.MaxShownPerWake)
            {
                InboxAnswer page;
                try
                {
                    page = await PageAsync(
                        "include=payload&Limit=" + Limits.MaxSecretsPerPage, listing.Anchor == null, after, deadline);
                }
                catch (SecurePushException)
                {
                    break;
                }

                var secrets = page.Entries.Select(entry => entry.Secret).Where(secret => secret != null).ToList();
                listing.Unread = page.Entries.Count > 0 ? page.Unread : listing.Unread;
                await LearnUnlistedAsync(secrets.Select(secret => secret.Id).ToList(), listing, requests);
                foreach (var secret in secrets.Where(secret => requests.ContainsKey(secret.Id)))
                {
                    var request = requests[secret.Id];
                    requests.Remove(secret.Id);
                    if (underWay.Add(secret.Id))
                    {
                        var acquisition = await ClaimAsync(secret, null, request, deadline, CancellationToken.None);
                        report.Add(await FinishAsync(acquisition, secret.Id));
                    }
                }

                var last = page.Entries.LastOrDefault()?.Id;
                if (!page.HasNext || last == null || last == after || secrets.Count == 0)
                {
                    break;
                }

                after = last;
            }

            return report;
        }

        /// <summary>
        /// Adds the notifications that have become visible since the listing: a page with payloads has marked them as
        /// read, too, so nobody else would show them.
        /// </summary>
        private async Task LearnUnlistedAsync(
            List<PushId> ids, Listing listing, Dictionary<PushId, FetchRequest> requests)
        {
            var now = clock.UnixTime;
            var fresh = await UpdateOrDefaultAsync(
                state =>
                {
                    var found = new Dictionary<PushId, FetchRequest>();
                    foreach (var id in ids)
                    {
                        if (state.UserChanges == listing.UserChanges && state.Ledger.Find(id) == null)
                        {
                            state.Ledger.Learn(id, now, Limits);
                            found[id] = state.Request(id);
                        }
                    }

                    return found;
                }, new Dictionary<PushId, FetchRequest>());
            foreach (var request in fresh)
            {
                requests[request.Key] = request.Value;
            }
        }

        /// <summary>Fetches and shows what waits, one by one, until something fails for all.</summary>
        private async Task<WakeReport> ShowWaitingAsync(Listing listing, int shown, double deadline)
        {
            var report = new WakeReport();
            var order = (await ReadOrNullAsync())?.Ledger.FetchOrder ?? new List<PushId>();
            foreach (var id in order.Where(id => !underWay.Contains(id)))
            {
                if (shown + report.Shown.Count >= Limits.MaxShownPerWake || clock.Uptime >= deadline
                    || !underWay.Add(id))
                {
                    break;
                }

                var end = Math.Min(deadline, clock.Uptime + Limits.SecondsPerTry);
                var acquisition = await AcquireAsync(id, end, CancellationToken.None);
                listing.Unread = acquisition.Unread ?? listing.Unread;
                if (acquisition.Kind == AcquisitionKind.LoggedOut)
                {
                    underWay.Remove(id);
                    var waiting = (await ReadOrNullAsync())?.Ledger.Waiting ?? new List<PushId> { id };
                    report.Add(await PromptAsync(waiting, acquisition.Code));
                    break;
                }

                var step = await FinishAsync(acquisition, id);
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
