using System;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>The session of a user who has logged out, for the requests of the log-out.</summary>
    internal sealed class DepartingSession : ICredentialsProvider
    {
        private readonly Departure departure;
        private readonly ClientCredentials last;
        private readonly BoundedStore store;
        private readonly TokenService service;
        private string accessToken;

        /// <param name="departure">The log-out.</param>
        /// <param name="last">Credentials that are not stored; <c>null</c> if there are none.</param>
        /// <param name="store">Keeps what a refresh brings.</param>
        /// <param name="transport">Sends the requests.</param>
        /// <param name="clock">The time.</param>
        public DepartingSession(
            Departure departure, ClientCredentials last, BoundedStore store, ITransport transport, IClientClock clock)
        {
            this.departure = departure;
            this.last = last;
            this.store = store;
            accessToken = departure.AccessToken;
            RefreshToken = departure.RefreshToken;

            // It was checked when it was configured.
            service = new TokenService(new Uri(departure.Url), true, transport, clock);
        }

        /// <summary>The token that ends the session; <c>null</c> if there is none.</summary>
        public string RefreshToken { get; private set; }

        /// <inheritdoc/>
        public Task<string> UserNameAsync() => Task.FromResult(departure.UserName);

        /// <inheritdoc/>
        public async Task<ClientCredentials> CredentialsAsync() =>
            accessToken != null ? ClientCredentials.Bearer(accessToken) : last ?? await RefreshAsync(null);

        /// <inheritdoc/>
        public async Task<ClientCredentials> RefreshAsync(ClientCredentials refused)
        {
            var renewed = RefreshToken == null
                ? null
                : await service.RefreshAsync(RefreshToken, departure.UserName);
            accessToken = renewed?.AccessToken;
            RefreshToken = renewed?.RefreshToken;
            await store.ChangeDepartureAsync(departure.Id, changed =>
            {
                changed.AccessToken = accessToken;
                changed.RefreshToken = RefreshToken;
            });
            return renewed?.Current;
        }

        /// <summary>Ends the session, and tells whether the server has answered.</summary>
        public Task<bool> EndAsync() => service.EndAsync(RefreshToken);
    }
}
