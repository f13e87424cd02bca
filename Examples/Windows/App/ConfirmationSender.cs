using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using SecurePush;
using SecurePush.Uwp;

namespace SecurePushExample
{
    /// <summary>
    /// The tutorial's "Send push": <c>POST /api/notifications</c> with an empty body and the user's own credentials. A
    /// real app does not send; its application server does, with an API key.
    /// </summary>
    internal sealed class ConfirmationSender
    {
        private readonly WindowsSecurePush push;

        public ConfirmationSender(WindowsSecurePush push)
        {
            this.push = push;
        }

        /// <exception cref="SecurePushException">Ingest has not stored the notification (201).</exception>
        public async Task SendAsync()
        {
            var credentials = await push.Credentials.CredentialsAsync();
            var status = credentials == null ? 401 : await PostAsync(credentials);
            if (status == 401 && credentials != null)
            {
                credentials = await push.Credentials.RefreshAsync(credentials);
                status = credentials == null ? 401 : await PostAsync(credentials);
            }

            if (status != 201)
            {
                throw new SecurePushException(DiagnosticCode.Status(status));
            }
        }

        private async Task<int> PostAsync(ClientCredentials credentials)
        {
            var headers = new Dictionary<string, string> { { "Authorization", credentials.Authorization } };
            var request = new TransportRequest("POST", new Uri(Deployment.IngestUrl, "api/notifications"), headers);
            try
            {
                return (await push.Transport.SendAsync(request, 8, 64 << 10, CancellationToken.None)).Status;
            }
            catch (TransportException)
            {
                throw new SecurePushException(DiagnosticCode.Unreachable);
            }
        }
    }
}
