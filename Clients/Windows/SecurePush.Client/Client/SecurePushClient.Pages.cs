using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Fetches pages of notifications with their payloads.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>
        /// Fetches many new notifications with few requests (<c>include=payload</c>). The others are
        /// fetched one by one.
        /// </summary>
        private async Task<WakeReport> ShowPagesAsync(Listing listing, Wake wake)
        {
            var report = new WakeReport();
            var wanted = listing.Found.ToList();
            var after = listing.Anchor;
            while (wanted.Count > 0 && report.Shown.Count < Limits.MaxShownPerWake)
            {
                // The server marks no more than these as read.
                var requests = await RequestAsync(wanted.Take(Limits.MaxSecretsPerPage), listing);
                var page = requests.Count > 0 ? await PayloadPageAsync(listing, after, requests, wake.Deadline) : null;
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
                        var acquisition = await OpenAndClaimAsync(
                            secret, null, requests[secret.Id], wake, wake.Deadline);
                        report.Add(await FinishAsync(acquisition, secret.Id, wake));
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
        /// read, too, so no other wake would show them.
        /// </summary>
        private Task<Dictionary<PushId, FetchRequest>> RequestUnlistedAsync(List<PushId> ids, Listing listing)
        {
            var now = clock.Uptime;
            return UpdateOrDefaultAsync(
                state =>
                {
                    var isSameUser = state.UserChanges == listing.UserChanges;
                    var fresh = ids.Where(id => isSameUser && state.Ledger.Find(id) == null).Distinct().ToList();
                    fresh.ForEach(id => state.Ledger.Learn(id, now, Limits));
                    return fresh.ToDictionary(id => id, id => state.Request(id, listing.UserChanges));
                }, new Dictionary<PushId, FetchRequest>());
        }
    }
}
