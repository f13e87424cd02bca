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

            /// <summary>
            /// It was shown or withdrawn, somebody else is about to show it, or the user has changed.
            /// </summary>
            Settled,

            /// <summary>It cannot be had now, or ever.</summary>
            Failed,

            /// <summary>The user has to log in.</summary>
            LoggedOut,

            /// <summary>The credentials cannot be read.</summary>
            Locked,
        }

        /// <summary>Fetches a notification of a push and shows it, or the generic text, or the prompt.</summary>
        private async Task<WakeReport> FetchAndShowAsync(PushId id, Wake wake)
        {
            if (!underWay.Add(id))
            {
                return new WakeReport();
            }

            wake.Fetching = id;
            var acquisition = await AcquireAsync(id, wake, wake.Deadline);
            var report = await FinishAsync(acquisition, id, wake);
            if (acquisition.Unread != null && !wake.IsAbandoned)
            {
                // The secret comes first: it matters more than the badge.
                await SetBadgeAsync(acquisition.Unread.Value);
            }

            return report;
        }

        /// <summary>
        /// Fetches a secret that is in <see cref="underWay"/>, and claims the right to show it. A failure is not shown
        /// after the user has changed.
        /// </summary>
        private async Task<Acquisition> AcquireAsync(PushId id, Wake wake, double deadline)
        {
            var acquisition = await FetchAsync(id, wake, deadline);
            return acquisition.Kind == AcquisitionKind.Secret || await IsCurrentAsync(wake)
                ? acquisition
                : new Acquisition { Kind = AcquisitionKind.Settled };
        }

        private async Task<Acquisition> FetchAsync(PushId id, Wake wake, double deadline)
        {
            FetchRequest request;
            try
            {
                request = await keeper.UpdateAsync(state => state.Request(id, wake.UserChanges));
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
            var outcome = await connection.SendAsync(call, deadline, wake.Cancellation);
            if (outcome.LostTries == 0 && !outcome.IsSuccess)
            {
                await UnrequestAsync(new Dictionary<PushId, FetchRequest> { { id, request } });
            }

            if (outcome.IsGone && await EndWithdrawnAsync(id))
            {
                // It confirms a withdrawal.
                return new Acquisition { Kind = AcquisitionKind.Settled };
            }

            switch (outcome.Kind)
            {
                case OutcomeKind.Success:
                    try
                    {
                        var answer = SecretAnswer.Read(outcome.Body, id);
                        request.IsRepeated |= outcome.LostTries > 0;
                        return await OpenAndClaimAsync(answer.Secret, answer.Unread, request, wake, deadline);
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
        private async Task<Acquisition> OpenAndClaimAsync(
            SecretNotification secret, int? unread, FetchRequest request, Wake wake, double deadline)
        {
            DiagnosticCode closed = null;
            try
            {
                secret = await OpenAsync(secret);
            }
            catch (SecurePushException error)
            {
                closed = error.Code;
            }
            catch (ClientStoreException error)
            {
                return error.Error == ClientStoreError.Locked
                    ? new Acquisition { Kind = AcquisitionKind.Locked }
                    : Acquisition.Failed(DiagnosticCode.NoKey, Progress.Pending);
            }

            var acquisition = await ClaimAsync(secret, unread, request, wake, deadline);
            return closed != null && acquisition.Kind == AcquisitionKind.Secret
                ? await CloseAsync(secret.Id, closed)
                : acquisition;
        }

        /// <summary>Whether the system may show it: it is a text, and neither sender nor app hides it.</summary>
        private bool IsForSystem(SecretNotification secret) =>
            secret.Text != null && secret.Display == MessageDisplay.Full
            && configuration.Display == MessageDisplay.Full;

        /// <summary>
        /// Notes that this device has read a secret that it will never open. So the withdrawal that follows when the
        /// first of the user's devices has read it does not remove the generic text of that device.
        /// </summary>
        private async Task<Acquisition> CloseAsync(PushId id, DiagnosticCode code)
        {
            var now = clock.Uptime;
            var end = await UpdateOrDefaultAsync(
                state => (ClaimEnd?)state.Ledger.Settle(id, process, false, now), null);
            return end == ClaimEnd.Noted ? Acquisition.Failed(code, Progress.Gone)
                : new Acquisition { Kind = end == null ? AcquisitionKind.Locked : AcquisitionKind.Settled };
        }

        /// <summary>Claims a secret, and waits for another process that has claimed it.</summary>
        private async Task<Acquisition> ClaimAsync(
            SecretNotification secret, int? unread, FetchRequest request, Wake wake, double deadline)
        {
            while (true)
            {
                Claim claim;
                try
                {
                    claim = await keeper.UpdateAsync(
                        state => state.Claim(secret, request, AreSigned, process, clock.Uptime, Limits));
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
                else if (!canWait || !await clock.TrySleepAsync(claim.HeldFor, wake.Cancellation))
                {
                    return new Acquisition { Kind = AcquisitionKind.Settled };
                }
            }
        }

        /// <summary>
        /// Notes that a claimed secret was shown, or the text in place of one that the system must not have, or that it
        /// waits for the next wake.
        /// </summary>
        private async Task SettleAsync(PushId id, bool isShown, Wake wake, bool isHidden = false)
        {
            var now = clock.Uptime;
            var end = await UpdateOrDefaultAsync(
                state =>
                {
                    if (state.UserChanges > wake.UserChanges)
                    {
                        return ClaimEnd.Withdrawn;
                    }

                    var result = state.Ledger.Settle(id, process, isShown, now);
                    if (isShown && !isHidden)
                    {
                        state.Report(id);
                    }
                    else if (isShown && state.Ledger.Notice(id))
                    {
                        state.Report(ShownReport.OfGeneric(id, null));
                    }

                    return result;
                }, ClaimEnd.Lost);
            if (end == ClaimEnd.Withdrawn)
            {
                // It was withdrawn, or the user changed, while it was shown.
                await Quietly(() => presenter.RemoveAsync(new[] { id }));
            }
        }

        /// <summary>
        /// Shows a secret, or what is shown in place of it, and takes the notification out of <see cref="underWay"/>.
        /// </summary>
        private async Task<WakeReport> FinishAsync(Acquisition acquisition, PushId id, Wake wake)
        {
            if (wake.IsAbandoned)
            {
                // The user sees the generic text, and the secret waits for the next wake.
                if (acquisition.Kind == AcquisitionKind.Secret)
                {
                    await SettleAsync(id, false, wake);
                }

                return new WakeReport(WakeResult.Failed, DiagnosticCode.TimedOut);
            }

            // Decided: from now on the expiration only waits.
            var showing = ShowAsync(acquisition, id, wake);
            wake.Fetching = null;
            wake.Showing = showing;
            try
            {
                return await showing;
            }
            finally
            {
                underWay.Remove(id);
            }
        }

        private async Task<WakeReport> ShowAsync(Acquisition acquisition, PushId id, Wake wake)
        {
            switch (acquisition.Kind)
            {
                case AcquisitionKind.Secret:
                    var isHidden = !IsForSystem(acquisition.Secret);
                    try
                    {
                        await (isHidden
                            ? presenter.ShowAsync(new GenericNotice(id, configuration.Texts.InApp, null))
                            : presenter.ShowAsync(acquisition.Secret));
                    }
                    catch (Exception)
                    {
                        await SettleAsync(id, false, wake);
                        return await IsCurrentAsync(wake)
                            ? await NoticeAsync(id, DiagnosticCode.NotPresented, Progress.Pending)
                            : new WakeReport();
                    }

                    await SettleAsync(id, true, wake, isHidden);
                    return isHidden ? new WakeReport(WakeResult.NewData) : WakeReport.OfShown(id);
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
            var isThere = end != Progress.Gone || code.IsOfEnvelope;
            var isFirst = await UpdateOrDefaultAsync(state => Notice(state, id, end, isThere, code), true);
            if (isFirst && (isThere || configuration.ShowsNoticeWhenGone))
            {
                await ShowAsync(new GenericNotice(id, configuration.Texts.Generic, code));
            }

            return WakeReport.OfWaiting(end == Progress.Pending ? new[] { id } : new PushId[0], code);
        }

        /// <summary>
        /// Notes that the generic text is shown, and tells whether it is the first time. The server has nothing to note
        /// of what is gone.
        /// </summary>
        private static bool Notice(ClientState state, PushId id, Progress end, bool isThere, DiagnosticCode code)
        {
            var isFirst = state.Ledger.Notice(id, end);
            if (isFirst && isThere)
            {
                state.Report(ShownReport.OfGeneric(id, code));
            }

            return isFirst;
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
