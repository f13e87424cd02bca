using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Authentication;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Sends requests by <see cref="HttpClient"/>: without cookies and stored passwords, without redirects, and with a
    /// limit for the size of a response that holds while it arrives.
    /// </summary>
    public sealed class HttpClientTransport : ITransport, IDisposable
    {
        /// <summary>
        /// The errors for certificates of WinINet (wininet.h): ERROR_INTERNET_SEC_CERT_DATE_INVALID,
        /// ERROR_INTERNET_SEC_CERT_CN_INVALID, ERROR_INTERNET_INVALID_CA, ERROR_INTERNET_SEC_CERT_ERRORS,
        /// ERROR_INTERNET_SEC_INVALID_CERT and ERROR_INTERNET_SEC_CERT_REVOKED; and CERT_E_UNTRUSTEDROOT (winerror.h).
        /// </summary>
        private static readonly uint[] CertificateErrors =
        {
            0x80072F05, 0x80072F06, 0x80072F0D, 0x80072F17, 0x80072F89, 0x80072F8A, 0x800B0109,
        };

        private readonly HttpClient client;

        /// <summary>Makes a transport with connections of its own.</summary>
        public HttpClientTransport()
            : this(new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false })
        {
        }

        /// <summary>Makes a transport on a handler that follows no redirects.</summary>
        public HttpClientTransport(HttpMessageHandler handler)
        {
            // The time-out is the caller's token.
            client = new HttpClient(handler) { Timeout = System.Threading.Timeout.InfiniteTimeSpan };
        }

        /// <inheritdoc/>
        public async Task<TransportResponse> SendAsync(
            TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation)
        {
            using (var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation))
            using (var message = Message(request))
            {
                limit.CancelAfter(TimeSpan.FromSeconds(timeout));
                try
                {
                    return await ExchangeAsync(message, maxBytes, limit.Token).ConfigureAwait(false);
                }
                catch (TransportException)
                {
                    throw;
                }
                catch (Exception error)
                {
                    cancellation.ThrowIfCancellationRequested();
                    throw new TransportException(
                        limit.IsCancellationRequested ? TransportError.TimedOut
                        : IsUntrusted(error) ? TransportError.Untrusted : TransportError.Unreachable);
                }
            }
        }

        /// <inheritdoc/>
        public void Dispose() => client.Dispose();

        private static HttpRequestMessage Message(TransportRequest request)
        {
            var message = new HttpRequestMessage(new HttpMethod(request.Method), request.Uri);
            if (request.Body != null)
            {
                message.Content = new ByteArrayContent(request.Body);
            }

            foreach (var header in request.Headers)
            {
                if (header.Key != "Content-Type")
                {
                    message.Headers.TryAddWithoutValidation(header.Key, header.Value);
                }
                else if (message.Content != null)
                {
                    message.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(header.Value);
                }
            }

            return message;
        }

        private async Task<TransportResponse> ExchangeAsync(
            HttpRequestMessage message, int maxBytes, CancellationToken cancellation)
        {
            using (var response = await client.SendAsync(
                message, HttpCompletionOption.ResponseHeadersRead, cancellation).ConfigureAwait(false))
            {
                if (response.Content?.Headers.ContentLength > maxBytes && message.Method != HttpMethod.Head)
                {
                    throw new TransportException(TransportError.TooLarge);
                }

                var body = response.Content == null
                    ? null
                    : await BodyAsync(response.Content, maxBytes, cancellation).ConfigureAwait(false);
                return new TransportResponse(
                    (int)response.StatusCode, body, Header(response.Headers, "Retry-After"),
                    response.Content == null ? null : Header(response.Content.Headers, "Content-Type"),
                    Header(response.Headers, "WWW-Authenticate"));
            }
        }

        private static async Task<byte[]> BodyAsync(HttpContent content, int maxBytes, CancellationToken cancellation)
        {
            using (var stream = await content.ReadAsStreamAsync().ConfigureAwait(false))
            using (cancellation.Register(stream.Dispose))
            {
                var body = new MemoryStream();
                var buffer = new byte[16 << 10];
                int count;
                while ((count = await stream.ReadAsync(
                    buffer, 0, buffer.Length, cancellation).ConfigureAwait(false)) > 0)
                {
                    if (body.Length + count > maxBytes)
                    {
                        throw new TransportException(TransportError.TooLarge);
                    }

                    body.Write(buffer, 0, count);
                }

                cancellation.ThrowIfCancellationRequested();
                return body.ToArray();
            }
        }

        private static string Header(HttpHeaders headers, string name) =>
            headers.TryGetValues(name, out var values) ? string.Join(", ", values) : null;

        /// <summary>
        /// Whether the server's certificate was refused. .NET says so by an <see cref="AuthenticationException"/>, mono
        /// and the .NET Framework by a status, and UWP by an error of WinINet.
        /// </summary>
        private static bool IsUntrusted(Exception error)
        {
            for (var cause = error; cause != null; cause = cause.InnerException)
            {
                var status = (cause as WebException)?.Status;
                if (cause is AuthenticationException || status == WebExceptionStatus.TrustFailure
                    || status == WebExceptionStatus.SecureChannelFailure
                    || Array.IndexOf(CertificateErrors, unchecked((uint)cause.HResult)) >= 0)
                {
                    return true;
                }
            }

            return false;
        }
    }
}
