using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Fetches and shows.</content>
    public sealed partial class SecurePushClient
    {
        private enum AcquisitionKind
        {
            /// <summary>The caller shows it.</summary>
            Secret,

            /// <summary>It was shown or withdrawn, or somebody else is about to show it.</summary>
            Settled,

            /// <summary>It cannot be had now, or ever.</summary>
            Failed,

            /// <summary>The user has to log in.</summary>
            LoggedOut,

            /// <summary>The credentials cannot be read.</summary>
            Locked,
        }

        /// <summary>Fetches a notification of a push and shows it, or the generic text, or the prompt.</summary>
        private async Task<WakeReport> FetchAndShowAsync(PushId id, int userChanges, Wake wake)
        {
            if (!underWay.Add(id))
            {
                return new WakeReport();
            }

            wake.Fetching = id;
            var acquisition = await AcquireAsync(id, userChanges, wake.Deadline, wake.Cancellation);
            if (acquisition.Unread != null && !wake.IsAbandoned)
            {
                await SetBadgeAsync(acquisition.Unread.Value);
            }

            return await FinishAsync(acquisition, id, wake);
        }

        /// <summary>Fetches a secret that is in <see cref="underWay"/>, and claims the right to show it.</summary>
        /// <param name="id">The notification.</param>
        /// <param name="userChanges">The count of the state when the client learned of it.</param>
        /// <param name="deadline">The <see cref="IClientClock.Uptime"/> at which it ends.</param>
        /// <param name="cancellation">Ends it early.</param>
        private async Task<Acquisition> AcquireAsync(
            PushId id, int userChanges, double deadline, CancellationToken cancellation)
        {
            FetchRequest request;
            try
            {
                request = await keeper.UpdateAsync(state => state.Request(id, userChanges));
            }
            catch (ClientStoreException)
            {
                return new Acquisition { Kind = AcquisitionKind.Locked };
            }

            if (request == null)
            {
                return new Acquisition { Kind = AcquisitionKind.Settled };
            }

            var call = new RetrievalCall("GET", "api/notifications/" + id, "include=unread");
            var outcome = await connection.SendAsync(call, deadline, cancellation);
            if (outcome.LostTries == 0 && !outcome.IsSuccess)
            {
                await UnrequestAsync(new Dictionary<PushId, FetchRequest> { { id, request } });
            }

            if (outcome.IsGone && await EndWithdrawnAsync(id))
            {
                // The answer to the open question of a withdrawal.
                return new Acquisition { Kind = AcquisitionKind.Settled };
            }

            switch (outcome.Kind)
            {
                case OutcomeKind.Success:
                    try
                    {
                        var answer = SecretAnswer.Read(outcome.Body, id);
                        request.IsRepeated |= outcome.LostTries > 0;
                        return await ClaimAsync(answer.Secret, answer.Unread, request, deadline, cancellation);
                    }
                    catch (SecurePushException error)
                    {
                        return Acquisition.Failed(error.Code, Progress.Pending);
                    }

                case OutcomeKind.LoggedOut:
                    return new Acquisition { Kind = AcquisitionKind.LoggedOut, Code = outcome.Code };
                case OutcomeKind.Locked:
                    return new Acquisition { Kind = AcquisitionKind.Locked };
                default:
                    return Acquisition.Failed(outcome.Code, outcome.IsGone ? Progress.Gone : Progress.Pending);
            }
        }

        /// <summary>Notes that the server has marked nothing as read for requests.</summary>
        private async Task UnrequestAsync(IReadOnlyDictionary<PushId, FetchRequest> requests)
        {
            if (requests.Count > 0)
            {
                await UpdateOrDefaultAsync(
                    state =>
                    {
                        foreach (var request in requests)
                        {
                            state.Unrequest(request.Key, request.Value);
                        }

                        return true;
                    }, false);
            }
        }

        /// <summary>Decrypts a secret that is in <see cref="underWay"/>, and claims it.</summary>
        private async Task<Acquisition> ClaimAsync(
            SecretNotification secret, int? unread, FetchRequest request, double deadline,
            CancellationToken cancellation)
        {
            try
            {
                secret = await OpenAsync(secret);
            }
            catch (SecurePushException error)
            {
                return new Acquisition
                {
                    Kind = AcquisitionKind.Failed, Code = error.Code, End = Progress.Unopenable, Unread = unread,
                };
            }
            catch (ClientStoreException error)
            {
                return error.Error == ClientStoreError.Locked
                    ? new Acquisition { Kind = AcquisitionKind.Locked }
                    : Acquisition.Failed(DiagnosticCode.NoKey, Progress.Pending);
            }

            while (true)
            {
                var now = clock.UnixTime;
                Claim claim;
                try
                {
                    claim = await keeper.UpdateAsync(state => state.Claim(secret, request, process, now, Limits));
                }
                catch (ClientStoreException)
                {
                    return new Acquisition { Kind = AcquisitionKind.Locked };
                }

                if (claim.IsGranted)
                {
                    return new Acquisition { Kind = AcquisitionKind.Secret, Secret = secret, Unread = unread };
                }

                if (claim.IsWithdrawn)
                {
                    await Quietly(() => presenter.RemoveAsync(new[] { secret.Id }));
                    return new Acquisition { Kind = AcquisitionKind.Settled };
                }

                // If the other process dies now, this one shows the secret.
                var canWait = claim.HeldFor > 0 && clock.Uptime + claim.HeldFor < deadline;
                if (claim.IsInDoubt)
                {
                    await ResolveDoubtsAsync();
                }
                else if (!canWait || !await SleepAsync(claim.HeldFor, cancellation))
                {
                    return new Acquisition { Kind = AcquisitionKind.Settled };
                }
            }
        }

        private async Task<bool> SleepAsync(double seconds, CancellationToken cancellation)
        {
            try
            {
                await clock.SleepAsync(seconds, cancellation);
                return true;
            }
            catch (OperationCanceledException)
            {
                return false;
            }
        }

        /// <summary>Notes that a claimed secret was shown, or that it waits for the next wake.</summary>
        private async Task SettleAsync(PushId id, bool isShown)
        {
            var now = clock.UnixTime;
            var end = await UpdateOrDefaultAsync(
                state =>
                {
                    var result = state.Ledger.Settle(id, process, isShown, now);
                    if (isShown)
                    {
                        state.Report(id);
                    }

                    return result;
                }, ClaimEnd.Lost);
            if (end == ClaimEnd.Withdrawn)
            {
                // It was withdrawn while it was shown.
                await Quietly(() => presenter.RemoveAsync(new[] { id }));
            }
        }

        /// <summary>
        /// Shows a secret, or what is shown in place of it, and takes the notification out of <see cref="underWay"/>.
        /// </summary>
        private async Task<WakeReport> FinishAsync(Acquisition acquisition, PushId id, Wake wake = null)
        {
            if (wake != null && wake.IsAbandoned)
            {
                // The user sees the generic text, and the secret waits for the next wake.
                if (acquisition.Kind == AcquisitionKind.Secret)
                {
                    await SettleAsync(id, false);
                }

                return new WakeReport(WakeResult.Failed, DiagnosticCode.TimedOut);
            }

            // Decided: from now on the expiration only waits.
            var showing = ShowAsync(acquisition, id);
            if (wake != null)
            {
                wake.Fetching = null;
                wake.Showing = showing;
            }

            try
            {
                return await showing;
            }
            finally
            {
                underWay.Remove(id);
            }
        }

        private async Task<WakeReport> ShowAsync(Acquisition acquisition, PushId id)
        {
            switch (acquisition.Kind)
            {
                case AcquisitionKind.Secret:
                    try
                    {
                        await presenter.ShowAsync(acquisition.Secret);
                    }
                    catch (Exception)
                    {
                        await SettleAsync(id, false);
                        return await NoticeAsync(id, DiagnosticCode.NotPresented, Progress.Pending);
                    }

                    await SettleAsync(id, true);
                    return WakeReport.OfShown(id);
                case AcquisitionKind.Failed:
                    return await NoticeAsync(id, acquisition.Code, acquisition.End);
                case AcquisitionKind.LoggedOut:
                    return await PromptAsync(new[] { id }, acquisition.Code);
                case AcquisitionKind.Locked:
                    return await ShowLockedNoticeAsync();
                default:
                    return new WakeReport();
            }
        }

        /// <summary>Shows the generic text, once per notification.</summary>
        private async Task<WakeReport> NoticeAsync(PushId id, DiagnosticCode code, Progress end)
        {
            var isFirst = await UpdateOrDefaultAsync(state => state.Ledger.Notice(id, end), true);
            if (isFirst && (end != Progress.Gone || configuration.ShowsNoticeWhenGone))
            {
                await ShowAsync(new GenericNotice(id, configuration.Texts.Generic, code));
            }

            return WakeReport.OfWaiting(end == Progress.Pending ? new[] { id } : new PushId[0], code);
        }

        /// <summary>Asks the user to log in, once more for each new notification.</summary>
        private async Task<WakeReport> PromptAsync(IReadOnlyList<PushId> ids, DiagnosticCode code)
        {
            var waiting = await UpdateOrDefaultAsync(
                state =>
                {
                    var isNews = ids.Count(id => state.Ledger.Notice(id)) > 0;
                    state.IsPrompted = true;
                    return isNews ? state.Ledger.Waiting : null;
                }, null);
            if (waiting != null && waiting.Count > 0)
            {
                await Quietly(() => presenter.ShowAsync(new LogInPrompt(waiting, configuration.Texts.LogIn, code)));
            }

            return WakeReport.OfWaiting(ids, code);
        }

        /// <summary>The result of fetching a secret and claiming the right to show it.</summary>
        private sealed class Acquisition
        {
            public AcquisitionKind Kind { get; set; }

            public SecretNotification Secret { get; set; }

            /// <summary>How many notifications are unread; <c>null</c> if the server did not say.</summary>
            public int? Unread { get; set; }

            public DiagnosticCode Code { get; set; }

            /// <summary>How the notification ends; <see cref="Progress.Pending"/>: the next wake tries again.</summary>
            public Progress End { get; set; }

            public static Acquisition Failed(DiagnosticCode code, Progress end) =>
                new Acquisition { Kind = AcquisitionKind.Failed, Code = code, End = end };
        }
    }
}
