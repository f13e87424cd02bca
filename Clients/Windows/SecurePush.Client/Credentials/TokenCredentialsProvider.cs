using System;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Credentials from <c>POST /api/token</c>: a token for the user's password, renewed with its refresh token where
    /// the server gives one (<c>AUTH_REFRESH_TTL</c>).
    /// They are kept in the store, which the app and its background task share. Only one of them refreshes at a time,
    /// because a refresh token that is used twice ends the session (RFC 9700, section 4.14).
    /// </summary>
    public sealed class TokenCredentialsProvider : ICredentialsProvider
    {
        /// <summary>Longer than an exchange, whose time-out is 8 s.</summary>
        private const double LeaseSeconds = 10;

        private readonly TokenService service;
        private readonly BoundedStore store;
        private readonly IClientClock clock;
        private readonly string process;
        private readonly bool keepsPassword;
        private readonly object guard = new object();
        private Task<ClientCredentials> refreshing;

        /// <summary>Makes a provider.</summary>
        /// <param name="retrievalUrl">As in <see cref="SecurePushConfiguration"/>.</param>
        /// <param name="store">The client's store.</param>
        /// <param name="transport">The client's transport.</param>
        /// <param name="clock">The client's clock; the system's if it is <c>null</c>.</param>
        /// <param name="keepsPassword">
        /// Whether the password is stored, encrypted, if the server issues no tokens. Otherwise such a log-in fails: a
        /// proxy that answers wrongly must not make the device keep a password.
        /// </param>
        /// <param name="allowsInsecure">As in <see cref="SecurePushConfiguration"/>.</param>
        public TokenCredentialsProvider(
            Uri retrievalUrl, IClientStore store, ITransport transport, IClientClock clock = null,
            bool keepsPassword = false, bool allowsInsecure = false)
        {
            this.keepsPassword = keepsPassword;
            this.clock = clock ?? new SystemClientClock();
            this.store = new BoundedStore(store, this.clock);
            process = ProcessName.New(this.clock);
            service = new TokenService(retrievalUrl, allowsInsecure, transport, this.clock);
        }

        /// <summary>Logs a user in with a password.</summary>
        /// <param name="userName">The user.</param>
        /// <param name="password">The password.</param>
        /// <param name="cancellation">Ends it before anything is stored.</param>
        /// <exception cref="SecurePushException">
        /// <c>SP-401</c>: the password is wrong. <c>SP-404</c>: the server issues no tokens.
        /// </exception>
        /// <exception cref="ClientStoreException">The store cannot be written.</exception>
        public Task LogInAsync(
            string userName, string password,
            CancellationToken cancellation = default(CancellationToken)) => Detached.RunAsync(async () =>
        {
            var credentials = await service.LogInAsync(userName, password, keepsPassword, cancellation);
            await SaveAsync(credentials);
        });

        /// <summary>Logs a user in with a token of an identity provider.</summary>
        /// <param name="userName">The user.</param>
        /// <param name="token">The token.</param>
        /// <param name="expiresAt">When the token expires, in seconds since 1970, if that is known.</param>
        /// <exception cref="ClientStoreException">The store cannot be written.</exception>
        public Task LogInWithTokenAsync(string userName, string token, double? expiresAt = null) =>
            Detached.RunAsync(() => SaveAsync(
                new StoredCredentials(userName) { AccessToken = token, ExpiresAt = expiresAt }));

        /// <summary>
        /// Forgets the user, and ends the session at the server if it can be reached. An app with a
        /// <see cref="SecurePushClient"/> calls <see cref="SecurePushClient.LogOutAsync"/> instead, which also forgets
        /// the notifications and unregisters the device.
        /// </summary>
        /// <exception cref="ClientStoreException">The store cannot be written.</exception>
        public Task LogOutAsync() => Detached.RunAsync(async () =>
        {
            string token = null;
            await store.ChangeCredentialsAsync(stored =>
            {
                token = stored?.RefreshToken;
                return stored == null ? null : new StoredCredentials(null).With(stored.Departures);
            });
            if (token != null)
            {
                await service.EndAsync(token);
            }
        });

        /// <inheritdoc/>
        public Task<string> UserNameAsync() => Detached.RunAsync(
            async () => (await StoredOrNullAsync())?.UserName);

        /// <summary>
        /// As <see cref="UserNameAsync"/>, but a store that cannot be read now is no <c>null</c>.
        /// </summary>
        /// <exception cref="ClientStoreException">The store cannot be read.</exception>
        internal async Task<string> StoredUserNameAsync() => (await ReadAsync())?.UserName;

        /// <inheritdoc/>
        public Task<ClientCredentials> CredentialsAsync() => Detached.RunAsync(async () =>
        {
            var stored = await ReadAsync();
            if (stored == null)
            {
                return null;
            }

            if (stored.IsUsable(clock.UnixTime))
            {
                return stored.Current;
            }

            return stored.RefreshToken == null ? null : await RefreshAsync(stored.Current);
        });

        /// <inheritdoc/>
        public Task<ClientCredentials> RefreshAsync(ClientCredentials refused)
        {
            TaskCompletionSource<ClientCredentials> exchange;
            lock (guard)
            {
                if (refreshing != null)
                {
                    return refreshing;
                }

                exchange = new TaskCompletionSource<ClientCredentials>();
                refreshing = exchange.Task;
            }

            Detached.RunAsync(() => RunAsync(exchange, refused)).Forget();
            return exchange.Task;
        }

        /// <summary>One exchange for all who wait.</summary>
        private async Task RunAsync(TaskCompletionSource<ClientCredentials> exchange, ClientCredentials refused)
        {
            ClientCredentials result = null;
            Exception failure = null;
            try
            {
                result = await ExchangeAsync(refused);
            }
            catch (Exception error)
            {
                failure = error;
            }

            lock (guard)
            {
                refreshing = null;
            }

            if (failure == null)
            {
                exchange.TrySetResult(result);
            }
            else
            {
                exchange.TrySetException(failure);
            }
        }

        /// <summary>Exchanges the refresh token, unless the other process has done so.</summary>
        private async Task<ClientCredentials> ExchangeAsync(ClientCredentials refused)
        {
            await TakeLeaseAsync();
            try
            {
                return await ExchangeWithLeaseAsync(refused);
            }
            finally
            {
                await EndLeaseAsync();
            }
        }

        private async Task<ClientCredentials> ExchangeWithLeaseAsync(ClientCredentials refused)
        {
            var stored = await ReadAsync();
            if (stored == null)
            {
                return null;
            }

            if (stored.Current != null && !stored.Current.Equals(refused) && stored.IsUsable(clock.UnixTime))
            {
                return stored.Current;
            }

            // Without a refresh token the server refuses what is stored, and it will not change its mind.
            var renewed = stored.RefreshToken == null
                ? null
                : await service.RefreshAsync(stored.RefreshToken, stored.UserName);
            var next = renewed ?? new StoredCredentials(stored.UserName);
            if (!await store.ReplaceCredentialsAsync(stored, next.With(stored.Departures)))
            {
                // The user has logged out, or another one has logged in. The next try finds the new credentials.
                if (renewed?.RefreshToken != null)
                {
                    await service.EndAsync(renewed.RefreshToken);
                }

                throw new SecurePushException(DiagnosticCode.Credentials);
            }

            return renewed?.Current;
        }

        private async Task TakeLeaseAsync()
        {
            while (true)
            {
                var isTaken = await store.UpdateAsync(
                    state => state.TakeLease(process, clock.Uptime, LeaseSeconds));
                if (isTaken)
                {
                    return;
                }

                await clock.SleepAsync(0.25, CancellationToken.None);
            }
        }

        /// <summary>If the store refuses, the lease expires.</summary>
        private async Task EndLeaseAsync()
        {
            try
            {
                await store.UpdateAsync(state => state.EndLease(process));
            }
            catch (ClientStoreException)
            {
                // It expires.
            }
        }

        private async Task<StoredCredentials> StoredOrNullAsync()
        {
            try
            {
                return await ReadAsync();
            }
            catch (ClientStoreException)
            {
                return null;
            }
        }

        /// <summary>The credentials; <c>null</c> if nobody is logged in.</summary>
        private async Task<StoredCredentials> ReadAsync()
        {
            var stored = await store.ReadCredentialsAsync();
            return stored?.UserName == null ? null : stored;
        }

        /// <summary>A log-in waits for no log-out that is not finished, and does not forget it.</summary>
        private Task SaveAsync(StoredCredentials credentials) => store.ChangeCredentialsAsync(
            stored => credentials.With(stored?.Departures ?? new Departure[0]));
    }
}
