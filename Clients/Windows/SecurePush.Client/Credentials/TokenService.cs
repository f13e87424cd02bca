using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary><c>POST /api/token</c> and <c>DELETE /api/token</c> of the retrieval service.</summary>
    internal sealed class TokenService
    {
        private const double Timeout = 8;
        private const int MaxBytes = 64 << 10;

        /// <summary>A hundred years, in seconds.</summary>
        private const double MaxLifetime = 100.0 * 366 * 86400;

        private readonly Uri url;
        private readonly ITransport transport;
        private readonly IClientClock clock;

        public TokenService(Uri retrievalUrl, ITransport transport, IClientClock clock)
        {
            url = new Uri(SecurePushConfiguration.Checked(retrievalUrl).AbsoluteUri.TrimEnd('/') + "/api/token");
            this.transport = transport;
            this.clock = clock;
        }

        /// <summary>Gets tokens for a password.</summary>
        /// <exception cref="SecurePushException">With <c>SP-401</c> for a wrong password.</exception>
        public async Task<StoredCredentials> LogInAsync(string userName, string password)
        {
            var response = await SendAsync("POST", ClientCredentials.Basic(userName, password), null);
            if (response.Status == 404 && AnswerForm.IsOwnError(response))
            {
                // The server issues no tokens. Whether the password is right shows with the first request.
                return new StoredCredentials(userName) { Password = password };
            }

            return Read(userName, response);
        }

        /// <summary>Exchanges a refresh token; <c>null</c> if it cannot be used any more.</summary>
        /// <exception cref="SecurePushException">It is not known now, for example without a connection.</exception>
        public async Task<StoredCredentials> RefreshAsync(string token, string userName)
        {
            var response = await SendAsync("POST", null, token);
            return AnswerForm.EndsSession(response) ? null : Read(userName, response);
        }

        /// <summary>
        /// Ends a session, and tells whether the server has answered. A failure is of little consequence: the token
        /// expires.
        /// </summary>
        public async Task<bool> EndAsync(string token)
        {
            try
            {
                var response = await SendAsync("DELETE", null, token);
                return response.Status == 204 || (response.Status < 500 && AnswerForm.IsOwnError(response));
            }
            catch (SecurePushException)
            {
                return false;
            }
        }

        private StoredCredentials Read(string userName, TransportResponse response)
        {
            // A 401 of a proxy does not say that the password is wrong.
            var isOwn = response.Status == 200
                ? AnswerForm.IsJson(response)
                : response.Status != 401 || AnswerForm.IsOwnUnauthorized(response);
            if (!isOwn || response.Status != 200)
            {
                throw new SecurePushException(
                    isOwn ? DiagnosticCode.Status(response.Status) : DiagnosticCode.MalformedAnswer);
            }

            try
            {
                var members = JsonValue.Parse(response.Body).Members();
                var token = AnswerMembers.Required(members, "access_token").Text();
                var lifetime = members.TryGetValue("expires_in", out var seconds) ? seconds.Number() : (double?)null;
                if (token == "" || lifetime < 1 || lifetime > MaxLifetime)
                {
                    throw JsonScanner.Malformed();
                }

                return new StoredCredentials(userName)
                {
                    AccessToken = token,
                    ExpiresAt = clock.UnixTime + lifetime,
                    RefreshToken = members.TryGetValue("refresh_token", out var refresh) ? refresh.Text() : null,
                };
            }
            catch (FormatException)
            {
                throw new SecurePushException(DiagnosticCode.MalformedAnswer);
            }
        }

        private async Task<TransportResponse> SendAsync(string method, ClientCredentials credentials, string refresh)
        {
            var headers = new Dictionary<string, string> { { "Accept", "application/json" } };
            byte[] body = null;
            if (credentials != null)
            {
                headers["Authorization"] = credentials.Authorization;
            }

            if (refresh != null)
            {
                headers["Content-Type"] = "application/json";
                body = JsonText.Object(
                    JsonText.Member("grant_type", "refresh_token"), JsonText.Member("refresh_token", refresh));
            }

            var request = new TransportRequest(method, url, headers, body);
            try
            {
                return await TimeLimit.RunAsync(
                    clock.Uptime + Timeout, clock, CancellationToken.None,
                    token => transport.SendAsync(request, Timeout, MaxBytes, token));
            }
            catch (TransportException error)
            {
                throw new SecurePushException(DiagnosticCode.Of(error.Error));
            }
        }
    }
}
