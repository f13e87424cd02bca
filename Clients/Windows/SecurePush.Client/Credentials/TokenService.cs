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

        public TokenService(Uri retrievalUrl, bool allowsInsecure, ITransport transport, IClientClock clock)
        {
            var address = SecurePushConfiguration.Checked(retrievalUrl, allowsInsecure).AbsoluteUri;
            url = new Uri(address.TrimEnd('/') + "/api/token");
            this.transport = transport;
            this.clock = clock;
        }

        /// <summary>Gets tokens for a password.</summary>
        /// <exception cref="SecurePushException">With <c>SP-401</c> for a wrong password.</exception>
        public async Task<StoredCredentials> LogInAsync(
            string userName, string password, bool keepsPassword, CancellationToken cancellation)
        {
            var response = await SendAsync("POST", ClientCredentials.Basic(userName, password), null, cancellation);
            if (!keepsPassword || response.Status != 404 || !AnswerForm.IsOwnError(response))
            {
                return Read(userName, response);
            }

            // The server issues no tokens. A request shows whether the password is right.
            var inbox = new RetrievalCall("GET", "api/notifications", "Limit=1");
            var basic = ClientCredentials.Basic(userName, password);
            var proof = await SendAsync("GET", basic, null, cancellation, new Uri(url, "notifications?Limit=1"));
            return AnswerForm.IsSuccess(proof, inbox)
                ? new StoredCredentials(userName) { Password = password }
                : throw Refusal(proof);
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
            if (response.Status != 200 || !AnswerForm.IsJson(response))
            {
                throw Refusal(response);
            }

            return Answer.Read(response.Body, members =>
            {
                var token = members.Required("access_token").Text();
                var lifetime = members["expires_in"]?.Number();
                if (token == "" || lifetime < 1 || lifetime > MaxLifetime)
                {
                    throw JsonScanner.Malformed();
                }

                return new StoredCredentials(userName)
                {
                    AccessToken = token, ExpiresAt = clock.UnixTime + lifetime,
                    RefreshToken = members["refresh_token"]?.Text(),
                };
            });
        }

        /// <summary>A 401 of a proxy does not say that the password is wrong.</summary>
        private static SecurePushException Refusal(TransportResponse response)
        {
            var isOwn = response.Status != 200
                && (response.Status != 401 || AnswerForm.IsOwnUnauthorized(response));
            return new SecurePushException(
                isOwn ? DiagnosticCode.Status(response.Status) : DiagnosticCode.MalformedAnswer);
        }

        private async Task<TransportResponse> SendAsync(
            string method, ClientCredentials credentials, string refresh,
            CancellationToken cancellation = default(CancellationToken), Uri target = null)
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
                body = new JsonWriter().Text("grant_type", "refresh_token").Text("refresh_token", refresh).Bytes();
            }

            var request = new TransportRequest(method, target ?? url, headers, body);
            try
            {
                return await TimeLimit.RunAsync(
                    clock.Uptime + Timeout, clock, cancellation,
                    token => transport.SendAsync(request, Timeout, MaxBytes, token));
            }
            catch (TransportException error)
            {
                throw new SecurePushException(DiagnosticCode.Of(error.Error));
            }
        }
    }
}
