using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Receives pushes.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>How long a call of the presenter may take after the time is up, in seconds.</summary>
        private const double SecondsToShow = 2;

        /// <summary>The configured keys that are on the curve.</summary>
        private PublicKeySet pushKeys;

        private enum ReceptionKind
        {
            /// <summary>The notification is to be fetched.</summary>
            Wanted,

            /// <summary>It was shown or withdrawn before.</summary>
            Settled,

            /// <summary>The push was a withdrawal, which has been carried out.</summary>
            Withdrawn,

            /// <summary>The push has no ID that can be used.</summary>
            Unusable,

            /// <summary>The push is not genuine: nothing is asked and nothing is shown.</summary>
            Ignored,

            /// <summary>The signature cannot be checked: the store with the user's name cannot be read.</summary>
            Unverified,

            /// <summary>The store is locked.</summary>
            Locked,
        }

        private async Task<WakeReport> ReceiveUntilAsync(IncomingPush push, Wake wake, CancellationToken expiration)
        {
            var work = ReceiveAsync(push, wake);
            return await IsInTimeAsync(work, wake, expiration) ? await work : await AbandonAsync(push, wake);
        }

        /// <summary>
        /// Whether work ends before the wake's time is up, whatever the platform does, and before the system takes it.
        /// </summary>
        private async Task<bool> IsInTimeAsync(Task work, Wake wake, CancellationToken expiration)
        {
            using (var timer = CancellationTokenSource.CreateLinkedTokenSource(expiration))
            {
                // What ends with the wake is in time.
                var end = clock.TrySleepAsync(
                    wake.Deadline + (2 * Wake.SecondsAfterRequests) - clock.Uptime, timer.Token);
                await Task.WhenAny(work, end);
                timer.Cancel();
                return work.IsCompleted;
            }
        }

        /// <summary>The time is up: the user sees the generic text, unless it is decided.</summary>
        private async Task<WakeReport> AbandonAsync(IncomingPush push, Wake wake)
        {
            var id = wake.Fetching;
            wake.Abandon();
            if (!wake.IsNoted)
            {
                await ShowAsync(new GenericNotice(push.Id, configuration.Texts.Generic, DiagnosticCode.TimedOut));
                return WakeReport.OfWaiting(
                    push.Id == null ? new PushId[0] : new[] { push.Id }, DiagnosticCode.TimedOut);
            }

            if (id != null)
            {
                // It stays in underWay until the text is shown, so that no other wake shows the secret before it.
                try
                {
                    return await NoticeInTimeAsync(id);
                }
                finally
                {
                    underWay.Remove(id);
                }
            }

            var showing = wake.Showing;
            if (showing != null)
            {
                await Quietly(() => TimeLimit.RunAsync(
                    clock.Uptime + SecondsToShow, clock, CancellationToken.None,
                    async token =>
                    {
                        await showing;
                        return true;
                    }));
            }

            return new WakeReport(WakeResult.Failed, DiagnosticCode.TimedOut);
        }

        /// <summary>Shows the generic text after a wake that took too long. It waits for no store.</summary>
        private async Task<WakeReport> NoticeInTimeAsync(PushId id)
        {
            var isFirst = true;
            await Quietly(() => TimeLimit.RunAsync(
                clock.Uptime + SecondsToShow, clock, CancellationToken.None,
                async token => isFirst = await UpdateOrDefaultAsync(
                    state => Notice(state, id, Progress.Pending, true, DiagnosticCode.TimedOut), true)));
            if (isFirst)
            {
                await ShowAsync(new GenericNotice(id, configuration.Texts.Generic, DiagnosticCode.TimedOut));
            }

            return WakeReport.OfWaiting(new[] { id }, DiagnosticCode.TimedOut);
        }

        private async Task<WakeReport> ReceiveAsync(IncomingPush push, Wake wake)
        {
            var reception = await NoteAsync(push, wake);
            wake.IsNoted = true;
            var report = new WakeReport();
            switch (reception.Kind)
            {
                case ReceptionKind.Locked:
                    return await ShowLockedNoticeAsync();
                case ReceptionKind.Ignored:
                    return new WakeReport(WakeResult.NoData, reception.Code);
                case ReceptionKind.Unverified:
                    await ShowAsync(
                        new GenericNotice(push.Id, configuration.Texts.Generic, DiagnosticCode.Credentials));
                    return WakeReport.OfWaiting(
                        push.Id == null ? new PushId[0] : new[] { push.Id }, DiagnosticCode.Credentials);
                case ReceptionKind.Unusable:
                    await ShowAsync(new GenericNotice(null, configuration.Texts.Generic, DiagnosticCode.MalformedPush));
                    return new WakeReport(WakeResult.Failed, DiagnosticCode.MalformedPush);
                case ReceptionKind.Withdrawn:
                    report = new WakeReport(WakeResult.NewData);
                    break;
                case ReceptionKind.Wanted:
                    report = await FetchAndShowAsync(push.Id, wake);
                    break;
            }

            if (!wake.IsAbandoned && (report.Code == null || report.Code.AllowsCatchUp))
            {
                report.Add(await CatchUpAsync(wake));
            }

            return await EndAsync(wake, report);
        }

        /// <summary>Verifies a push and notes its notification, before anything is asked.</summary>
        private async Task<Reception> NoteAsync(IncomingPush push, Wake wake)
        {
            try
            {
                var owner = await AdoptUserAsync();
                wake.UserChanges = owner.Changes;
                if (owner.Name == null && keeper.IsBlind && configuration.PushKeys != null)
                {
                    return new Reception { Kind = ReceptionKind.Unverified };
                }

                var fault = await FaultAsync(push, owner.Name, wake);
                if (fault != null)
                {
                    return new Reception { Kind = ReceptionKind.Ignored, Code = fault };
                }

                if (push.Id == null)
                {
                    return new Reception { Kind = ReceptionKind.Unusable };
                }

                if (push.IsWithdrawal)
                {
                    await WithdrawAsync(push.Id);
                    return new Reception { Kind = ReceptionKind.Withdrawn };
                }

                await ResolveDoubtsAsync();
                var now = clock.Uptime;
                var isWanted = await keeper.UpdateAsync(
                    state => state.UserChanges <= wake.UserChanges && state.Ledger.Learn(push.Id, now, Limits));
                return new Reception { Kind = isWanted ? ReceptionKind.Wanted : ReceptionKind.Settled };
            }
            catch (ClientStoreException)
            {
                return new Reception { Kind = ReceptionKind.Locked };
            }
        }

        /// <summary>
        /// Notes the user who is logged in. Another user's notifications are removed from the screen. Returns the user
        /// to whom the device belongs, also after the credentials have expired. It throws if the store is locked.
        /// </summary>
        private async Task<DeviceOwner> AdoptUserAsync()
        {
            await FinishForgettingAsync();
            var known = await keeper.ReadAsync();
            var userName = await UserNameOrNullAsync();
            if (userName == null || userName == known.Owner)
            {
                return new DeviceOwner { Name = known.Owner, Changes = known.UserChanges };
            }

            List<PushId> strangers = null;
            var owner = await keeper.UpdateAsync(state =>
            {
                strangers = state.Adopt(userName);
                return new DeviceOwner { Name = userName, Changes = state.UserChanges };
            });
            if (strangers.Count > 0)
            {
                await Quietly(() => presenter.RemoveAsync(strangers));
                await Quietly(() => presenter.RemovePromptAsync());
            }

            return owner;
        }

        /// <summary>The user who is logged in; <c>null</c> also if that is not known now.</summary>
        private async Task<string> UserNameOrNullAsync()
        {
            string userName = null;
            await Quietly(async () => userName = await KnownUserNameAsync());
            return userName;
        }

        /// <summary>The user who is logged in. It throws if that is not known now.</summary>
        private Task<string> KnownUserNameAsync() => userNameLimit.RunAsync(
            () => (credentials as TokenCredentialsProvider)?.StoredUserNameAsync() ?? credentials.UserNameAsync());

        /// <summary>Why a push is to be ignored; <c>null</c> if it is genuine, or if pushes are not signed.</summary>
        private async Task<DiagnosticCode> FaultAsync(IncomingPush push, string owner, Wake wake)
        {
            if (configuration.PushKeys == null)
            {
                return null;
            }

            if (owner == null)
            {
                return DiagnosticCode.BadSignature;
            }

            var now = clock.UnixTime;
            var verifier = await VerifierAsync();
            var fault = verifier.Fault(push, owner, now);
            return DiagnosticCode.BadSignature.Equals(fault) && verifier.HasSignature(push, now)
                && await LearnPushKeysAsync(wake.Deadline)
                ? (await VerifierAsync()).Fault(push, owner, now)
                : fault;
        }

        private async Task<PushVerifier> VerifierAsync()
        {
            // The server may have removed a configured key, because it was stolen.
            var stored = configuration.RefreshesPushKeys ? (await keeper.ReadAsync()).PushKeys : null;
            pushKeys = pushKeys ?? configuration.PushKeys.OnCurve(cryptography);
            return new PushVerifier(cryptography, stored ?? pushKeys, Limits.MaxPushAge);
        }

        /// <summary>
        /// Asks the presenter for the secrets that another process was about to show when it ended: those that the user
        /// sees are shown, the others are fetched again.
        /// </summary>
        private async Task ResolveDoubtsAsync()
        {
            var ledger = (await ReadOrNullAsync())?.Ledger;

            // Read the clock after the store: a claim in the future would count as expired.
            var now = clock.Uptime;
            var doubts = ledger?.Doubts(process, now, Limits);
            if (doubts == null || doubts.Count == 0)
            {
                return;
            }

            ISet<PushId> displayed = null;
            await Quietly(async () => displayed = await presenter.DisplayedSecretsAsync());
            foreach (var doubt in doubts)
            {
                var isShown = displayed != null && displayed.Contains(doubt.Id);
                var end = await UpdateOrDefaultAsync(
                    state =>
                    {
                        var result = state.Ledger.Settle(doubt.Id, doubt.Process, isShown, now);
                        if (isShown && result == ClaimEnd.Noted)
                        {
                            state.Report(doubt.Id);
                        }

                        return result;
                    }, ClaimEnd.Lost);
                if (end == ClaimEnd.Withdrawn)
                {
                    await Quietly(() => presenter.RemoveAsync(new[] { doubt.Id }));
                }
            }
        }

        private struct Reception
        {
            public ReceptionKind Kind { get; set; }

            public DiagnosticCode Code { get; set; }

            /// <summary>Why an app gets no secret; <c>null</c> if nothing is wrong.</summary>
            public DiagnosticCode Failure =>
                Kind == ReceptionKind.Locked ? DiagnosticCode.Locked
                : Kind == ReceptionKind.Unusable ? DiagnosticCode.MalformedPush
                : Kind == ReceptionKind.Unverified ? DiagnosticCode.Credentials : Code;
        }

        /// <summary>The user to whom the device belongs.</summary>
        private struct DeviceOwner
        {
            /// <summary><c>null</c> if nobody has ever logged in.</summary>
            public string Name { get; set; }

            /// <summary><see cref="ClientState.UserChanges"/>.</summary>
            public int Changes { get; set; }
        }
    }
}
