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
            var now = clock.UnixTime;
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

        /// <summary>
        /// Fetches many new notifications with few requests (<c>include=payload</c>). What does not come in this way is
        /// fetched one by one.
        /// </summary>
        private async Task<WakeReport> ShowPagesAsync(Listing listing, double deadline)
        {
            var report = new WakeReport();
            var wanted = listing.Found.ToList();
            var after = listing.Anchor;
            while (wanted.Count > 0 && report.Shown.Count < Limits.MaxShownPerWake)
            {
                // The server marks no more than these as read.
                var requests = await RequestAsync(wanted.Take(Limits.MaxSecretsPerPage), listing);
                var page = requests.Count > 0 ? await PayloadPageAsync(listing, after, requests, deadline) : null;
                var last = page?.Entries.LastOrDefault()?.Id;
                if (last == null)
                {
                    break;
                }

                listing.Unread = page.Unread;
                var secrets = page.Entries.Select(entry => entry.Secret).Where(secret => secret != null).ToList();
                foreach (var secret in secrets.Where(secret => requests.ContainsKey(secret.Id)))
                {
                    if (underWay.Add(secret.Id))
                    {
                        var acquisition = await ClaimAsync(
                            secret, null, requests[secret.Id], deadline, CancellationToken.None);
                        report.Add(await FinishAsync(acquisition, secret.Id));
                    }
                }

                wanted.RemoveAll(id => secrets.Any(secret => secret.Id == id));
                if (!page.HasNext || secrets.Count == 0 || last == after)
                {
                    break;
                }

                after = last;
            }

            return report;
        }

        /// <summary>
        /// Fetches a page with payloads; <c>null</c> if there is none. The requests that it answers are left: those for
        /// notifications on the page, also for those that have become visible since the listing.
        /// </summary>
        /// <param name="listing">The listing.</param>
        /// <param name="after">The last notification of the page before it.</param>
        /// <param name="requests">Those that the page may answer.</param>
        /// <param name="deadline">The <see cref="IClientClock.Uptime"/> at which it ends.</param>
        private async Task<InboxAnswer> PayloadPageAsync(
            Listing listing, PushId after, Dictionary<PushId, FetchRequest> requests, double deadline)
        {
            var call = PageCall("include=payload&Limit=" + Limits.MaxSecretsPerPage, listing.Anchor == null, after);
            var outcome = await connection.SendAsync(call, deadline);
            var page = PageOrNull(outcome);
            var ids = (page?.Entries ?? new InboxAnswer.Entry[0]).Where(entry => entry.Secret != null)
                .Select(entry => entry.Id).ToList();

            // Known notifications have taken the place of those that are not on the page. A success that cannot be
            // read may have marked any of them as read.
            if (outcome.LostTries == 0 && (page != null || !outcome.IsSuccess))
            {
                await UnrequestAsync(
                    requests.Where(request => !ids.Contains(request.Key))
                        .ToDictionary(request => request.Key, request => request.Value));
            }

            foreach (var request in await RequestUnlistedAsync(ids, listing))
            {
                requests[request.Key] = request.Value;
            }

            foreach (var request in requests.Values)
            {
                request.IsRepeated |= outcome.LostTries > 0;
            }

            return page;
        }

        private static InboxAnswer PageOrNull(RetrievalOutcome outcome)
        {
            try
            {
                return outcome.IsSuccess ? InboxAnswer.Read(outcome.Body) : null;
            }
            catch (SecurePushException)
            {
                return null;
            }
        }

        /// <summary>
        /// Notes that the server is being asked for notifications. None if the user has changed since the listing.
        /// </summary>
        private Task<Dictionary<PushId, FetchRequest>> RequestAsync(IEnumerable<PushId> ids, Listing listing) =>
            UpdateOrDefaultAsync(
                state => ids.Select(id => new { id, request = state.Request(id, listing.UserChanges) })
                    .Where(pair => pair.request != null).ToDictionary(pair => pair.id, pair => pair.request),
                new Dictionary<PushId, FetchRequest>());

        /// <summary>
        /// Notes the notifications that have become visible since the listing: a page with payloads has marked them as
        /// read, too, so nobody else would show them.
        /// </summary>
        private Task<Dictionary<PushId, FetchRequest>> RequestUnlistedAsync(List<PushId> ids, Listing listing)
        {
            var now = clock.UnixTime;
            return UpdateOrDefaultAsync(
                state =>
                {
                    var isSameUser = state.UserChanges == listing.UserChanges;
                    var fresh = ids.Where(id => isSameUser && state.Ledger.Find(id) == null).Distinct().ToList();
                    fresh.ForEach(id => state.Ledger.Learn(id, now, Limits));
                    return fresh.ToDictionary(id => id, id => state.Request(id, listing.UserChanges));
                }, new Dictionary<PushId, FetchRequest>());
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
                var acquisition = await AcquireAsync(id, listing.UserChanges, end, CancellationToken.None);
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
