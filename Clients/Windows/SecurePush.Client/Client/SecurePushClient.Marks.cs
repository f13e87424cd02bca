using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Tells the server what the user has seen.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>The server's limit of IDs in one request.</summary>
        private const int MaxMarks = 1000;

        /// <summary>How many shown notifications one wake reports.</summary>
        private const int MaxReports = 50;

        /// <summary>A report is never worth more time than this, in seconds.</summary>
        private const double SecondsForReports = 5;

        /// <summary>Whether a wake is telling the server what was shown.</summary>
        private bool isReporting;

        /// <summary>
        /// Marks notifications as read without fetching them, removes them from the screen, and sets the badge. Unknown
        /// IDs change nothing. A thousand are sent at once.
        /// </summary>
        /// <param name="ids">The notifications.</param>
        /// <param name="cancellation">Ends it. The server may have marked some of them.</param>
        /// <exception cref="SecurePushException">The server has not marked them all.</exception>
        public Task MarkAsReadAsync(
            IReadOnlyList<PushId> ids,
            CancellationToken cancellation = default(CancellationToken)) => Serial(async () =>
        {
            var deadline = Begin().Deadline;
            for (var start = 0; start < ids.Count; start += MaxMarks)
            {
                var part = ids.Skip(start).Take(MaxMarks).Select(id => id.ToString()).ToList();
                await MarkAsync(new JsonWriter().List("Ids", part).Bytes(), deadline, cancellation);
            }

            await EndReadAsync(ids, deadline);
            return true;
        });

        /// <summary>
        /// Ends notifications that the user is done with here: the next wake does not show them.
        /// </summary>
        private async Task EndReadAsync(IReadOnlyCollection<PushId> ids, double deadline)
        {
            var now = clock.Uptime;
            await UpdateOrDefaultAsync(
                state =>
                {
                    foreach (var id in ids)
                    {
                        state.Ledger.Withdraw(id, now, Limits);
                    }

                    return true;
                }, false);
            await Quietly(() => presenter.RemoveAsync(ids));
            await RefreshBadgeAsync(deadline);
        }

        /// <summary>
        /// Notes that the app shows a secret that the system does not show, so that the server is told.
        /// </summary>
        private Task NoteReadAsync(SecretNotification secret)
        {
            return UpdateOrDefaultAsync(
                state =>
                {
                    var entry = state.Ledger.Find(secret.Id);
                    var isNews = !IsForSystem(secret)
                        && (entry == null || (entry.Progress == Progress.Shown && entry.IsNoticed));
                    if (isNews)
                    {
                        state.Report(secret.Id);
                    }

                    if (isNews && entry != null)
                    {
                        // Only once.
                        entry.IsNoticed = false;
                    }

                    return isNews;
                }, false);
        }

        /// <summary>Marks all notifications up to this one as read, and sets the badge.</summary>
        /// <param name="id">The notification.</param>
        /// <param name="cancellation">Ends it. The server may have marked them.</param>
        /// <exception cref="SecurePushException">The server has not marked them.</exception>
        public Task MarkAsReadThroughAsync(
            PushId id, CancellationToken cancellation = default(CancellationToken)) => Serial(async () =>
        {
            var deadline = Begin().Deadline;
            await MarkAsync(new JsonWriter().Text("Through", id.ToString()).Bytes(), deadline, cancellation);
            await RefreshBadgeAsync(deadline);
            return true;
        });

        private Task MarkAsync(byte[] body, double deadline, CancellationToken cancellation) => SendAsync(
            new RetrievalCall("POST", "api/notifications/read", null, body) { Success = 204 }, deadline, cancellation);

        /// <summary>Asks for the number of unread notifications. A failure leaves the badge as it is.</summary>
        private async Task RefreshBadgeAsync(double deadline)
        {
            try
            {
                await SetBadgeAsync((await PageAsync("Limit=1", true, null, deadline)).Unread);
            }
            catch (SecurePushException)
            {
                // The next wake sets it.
            }
        }

        /// <summary>
        /// Tells the server which notifications were shown. The next wake repeats a failed report. One run serves all
        /// wakes at the same time.
        /// </summary>
        private async Task ReportShownAsync(double deadline)
        {
            if (isReporting)
            {
                return;
            }

            isReporting = true;
            try
            {
                await ReportShownAsync(new HashSet<string>(), Math.Min(deadline, clock.Uptime + SecondsForReports));
            }
            finally
            {
                isReporting = false;
            }
        }

        /// <summary>A store that cannot be written keeps a report, so each is told once.</summary>
        private async Task ReportShownAsync(HashSet<string> told, double end)
        {
            while (told.Count < MaxReports)
            {
                var state = await ReadOrNullAsync();

                // The server knows a generic text by the device that shows it.
                var installation = state?.Registration.InstallationId;
                var report = state?.Unreported.Find(candidate =>
                    !told.Contains(candidate.ToString()) && (installation != null || !candidate.IsGeneric));
                if (report == null)
                {
                    return;
                }

                told.Add(report.ToString());
                var path = "api/notifications/" + report.Id + "/shown";
                var body = report.Body(installation);
                var call = new RetrievalCall("POST", path, null, body) { Success = 204 };
                var outcome = await connection.SendAsync(call, end);
                if (!outcome.IsSuccess && !outcome.IsOwnRefusal)
                {
                    // A redirect or an error of a proxy is no answer to the report.
                    return;
                }

                await UpdateOrDefaultAsync(
                    current => current.Unreported.RemoveAll(known => known.ToString() == report.ToString()), 0);
            }
        }
    }
}
