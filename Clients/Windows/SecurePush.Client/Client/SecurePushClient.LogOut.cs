using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Ends the user's session on this device.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>Telling the server of a log-out is never worth more time than this, in seconds.</summary>
        private const double SecondsToDepart = 8;

        /// <summary>Whether log-outs may be left of which the server does not know.</summary>
        private bool hasDepartures;

        /// <summary>Whether a wake is telling the server who has logged out.</summary>
        private bool isDeparting;

        /// <summary>
        /// Logs the user out, with or without a network. First the device forgets the credentials, the notifications,
        /// what is on the screen, the registration and the key for end-to-end encryption. Then it tells the server to
        /// remove the installation and to end the session. Each wake repeats a failure: the installation's
        /// ID is kept for that, and the session's tokens for at most 24 hours, encrypted. The log-in of another user
        /// does not wait for it. If the process ends in between, the next wake finishes it.
        /// With another provider than <see cref="TokenCredentialsProvider"/> the app ends its session itself,
        /// afterwards.
        /// </summary>
        /// <param name="cancellation">Ends the wait for the server, not the log-out.</param>
        /// <returns>
        /// Whether the server knows it. If not, pushes for the user may still arrive; the device ignores them.
        /// </returns>
        /// <exception cref="SecurePushException">
        /// The store cannot be read or written, so that the user may still be logged in. The screen is empty.
        /// </exception>
        public Task<bool> LogOutAsync(CancellationToken cancellation = default(CancellationToken)) =>
            LeaveAsync(true, cancellation);

        /// <summary>
        /// As <see cref="LogOutAsync"/>, but the session goes on, so that the device can be registered again.
        /// </summary>
        /// <param name="cancellation">Ends the wait for the server.</param>
        /// <returns>Whether the server has removed the device.</returns>
        /// <exception cref="SecurePushException">The store cannot be read or written.</exception>
        public Task<bool> UnregisterAsync(CancellationToken cancellation = default(CancellationToken)) =>
            LeaveAsync(false, cancellation);

        private Task<bool> LeaveAsync(bool endsSession, CancellationToken cancellation) => Serial(async () =>
        {
            // Nothing waits for a registration that is under way, except the request that undoes it.
            ClientCredentials last = null;
            string id;
            try
            {
                id = await DepartAsync(endsSession, credentials => last = credentials);
                await FinishForgettingAsync();
            }
            catch (ClientStoreException error)
            {
                await ForgetWithoutRecordAsync(endsSession);
                throw new SecurePushException(
                    error.Error == ClientStoreError.Locked ? DiagnosticCode.Locked : DiagnosticCode.Credentials);
            }

            var telling = OneAfterAnother(async () =>
            {
                await FinishDeparturesAsync(clock.Uptime + SecondsToDepart, id, last);
                return (await CredentialsOrNullAsync())?.Departures.All(departure => departure.Id != id) ?? true;
            });
            var end = new TaskCompletionSource<bool>();
            using (cancellation.Register(() => end.TrySetResult(false)))
            {
                return await await Task.WhenAny(telling, end.Task);
            }
        });

        /// <summary>A full disk does not keep files from being removed.</summary>
        private async Task ForgetWithoutRecordAsync(bool endsSession)
        {
            if (endsSession)
            {
                await Quietly(() => store.SaveCredentialsAsync(null));
                await Quietly(ForgetKeysAsync);
            }

            await Quietly(() => presenter.RemoveAllAsync());
        }

        /// <summary>
        /// Ends the credentials and notes what is left to do, in one step: whatever happens afterwards, the user is
        /// logged out and the next wake goes on.
        /// </summary>
        /// <returns>The departure's ID.</returns>
        private async Task<string> DepartAsync(bool endsSession, Action<ClientCredentials> keep)
        {
            await ForgetInstallationOfOtherDeviceAsync();
            var known = await keeper.ReadAsync();
            var installation = known.Registration.InstallationId;
            var ownsSession = credentials is TokenCredentialsProvider;
            Departure departure = null;
            await store.ChangeCredentialsAsync(stored =>
            {
                departure = new Departure
                {
                    At = clock.UnixTime,
                    Url = configuration.RetrievalUrl.AbsoluteUri,
                    UserName = stored?.UserName ?? known.Owner,
                    InstallationId = installation,
                    AccessToken = installation == null ? null : stored?.AccessToken,
                    RefreshToken = endsSession && ownsSession ? stored?.RefreshToken : null,
                    IsForgetting = true,
                };
                keep(stored?.UserName == null ? null : stored.Current);
                var left = stored == null || (endsSession && ownsSession) ? new StoredCredentials(null) : stored;
                return left.With((stored?.Departures ?? new Departure[0]).Concat(new[] { departure }));
            });
            return departure.Id;
        }

        /// <summary>Forgets what belongs to users who have logged out. It can be repeated.</summary>
        private async Task FinishForgettingAsync()
        {
            try
            {
                var departures = (await store.ReadCredentialsAsync())?.Departures ?? new Departure[0];
                hasDepartures = departures.Count > 0;
                foreach (var departure in departures.Where(departure => departure.IsForgetting))
                {
                    // The state changes first, so that a fetch in flight shows nothing any more.
                    var owner = await keeper.UpdateAsync(state =>
                    {
                        state.Depart(departure.Id);
                        return state.KeyOwner;
                    });
                    if (owner == null)
                    {
                        await ForgetKeysAsync();
                    }

                    await Quietly(() => presenter.RemoveAllAsync());
                    await store.ChangeDepartureAsync(departure.Id, changed => changed.IsForgetting = false);
                }
            }
            catch (ClientStoreException)
            {
                // The next wake goes on.
            }
        }

        /// <summary>
        /// Tells the server of the log-outs that it does not know. One wake does this for all at the same time, with
        /// one try for each.
        /// </summary>
        /// <param name="deadline">The <see cref="IClientClock.Uptime"/> at which it ends.</param>
        /// <param name="id">The departure of the last credentials.</param>
        /// <param name="last">Credentials that are not stored with it: a password.</param>
        private async Task FinishDeparturesAsync(double deadline, string id = null, ClientCredentials last = null)
        {
            if (isDeparting || !hasDepartures)
            {
                return;
            }

            isDeparting = true;
            try
            {
                var end = Math.Min(deadline, clock.Uptime + SecondsToDepart);
                var departures = (await CredentialsOrNullAsync())?.Departures ?? new Departure[0];
                foreach (var departure in departures.Where(departure => !departure.IsForgetting))
                {
                    await FinishAsync(departure.Aged(clock.UnixTime), departure.Id == id ? last : null, end);
                }

                hasDepartures = departures.Count > 0;
            }
            catch (ClientStoreException)
            {
                // The next wake tries again.
            }
            finally
            {
                isDeparting = false;
            }
        }

        private async Task FinishAsync(Departure departure, ClientCredentials last, double deadline)
        {
            var session = new DepartingSession(departure, last, store, transport, clock);
            var isKnown = departure.InstallationId == null;
            if (!isKnown)
            {
                var call = new RetrievalCall("DELETE", "api/installations/" + departure.InstallationId)
                {
                    Success = 204, IsRetried = false,
                };

                // The same user may have logged in again, and may remove the installation.
                var isOwn = (await UserNameOrNullAsync()) == departure.UserName && departure.UserName != null
                    && departure.Url == configuration.RetrievalUrl.AbsoluteUri;
                var provider = isOwn ? credentials : session;
                var outcome = await new RetrievalConnection(
                    new Uri(departure.Url), Limits, provider, transport, clock).SendAsync(call, deadline);
                isKnown = outcome.IsSuccess || outcome.IsOwnRefusal;
                if (!isKnown && !isOwn && outcome.Kind == OutcomeKind.LoggedOut)
                {
                    // The session has ended, so its tokens are of no use. The ID waits for the user.
                    await store.ChangeDepartureAsync(departure.Id, Aged(departure, changed => changed.AccessToken = null));
                }
            }

            var token = session.RefreshToken;
            var isEnded = token == null || (isKnown && await session.EndAsync());
            await store.ChangeDepartureAsync(departure.Id, Aged(departure, changed =>
            {
                changed.InstallationId = isKnown ? null : changed.InstallationId;
                changed.RefreshToken = isEnded ? null : changed.RefreshToken;
            }));
        }

        /// <summary>A change that keeps nothing that is too old, whatever the server says.</summary>
        private static Action<Departure> Aged(Departure aged, Action<Departure> change) => changed =>
        {
            changed.InstallationId = aged.InstallationId;
            changed.AccessToken = aged.AccessToken == null ? null : changed.AccessToken;
            changed.RefreshToken = aged.RefreshToken == null ? null : changed.RefreshToken;
            change(changed);
        };

        private async Task<StoredCredentials> CredentialsOrNullAsync()
        {
            try
            {
                return await store.ReadCredentialsAsync();
            }
            catch (ClientStoreException)
            {
                return null;
            }
        }
    }
}
