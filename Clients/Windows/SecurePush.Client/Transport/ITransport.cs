using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Sends one request and returns its response. <see cref="HttpClientTransport"/> is the real one; tests inject a
    /// simulated one. A transport follows no redirect, so that credentials go to no other host.
    /// </summary>
    public interface ITransport
    {
        /// <summary>Sends a request.</summary>
        /// <param name="request">The request. Its address begins with that of the configuration.</param>
        /// <param name="timeout">The longest time for the whole exchange, in seconds.</param>
        /// <param name="maxBytes">The longest body to accept.</param>
        /// <param name="cancellation">Stops it.</param>
        /// <exception cref="TransportException">There is no response.</exception>
        /// <exception cref="OperationCanceledException">It was stopped.</exception>
        Task<TransportResponse> SendAsync(
            TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation);
    }

    /// <summary>A request to the retrieval service.</summary>
    public sealed class TransportRequest
    {
        /// <summary>Makes a request.</summary>
        public TransportRequest(
            string method, Uri uri, IReadOnlyDictionary<string, string> headers = null, byte[] body = null)
        {
            Method = method;
            Uri = uri;
            Headers = headers ?? new Dictionary<string, string>();
            Body = body;
        }

        /// <summary><c>GET</c>, <c>HEAD</c>, <c>PUT</c>, <c>POST</c> or <c>DELETE</c>.</summary>
        public string Method { get; }

        /// <summary>The whole address.</summary>
        public Uri Uri { get; }

        /// <summary>The header fields, <c>Authorization</c> included: never log them.</summary>
        public IReadOnlyDictionary<string, string> Headers { get; }

        /// <summary>The body; <c>null</c> for none.</summary>
        public byte[] Body { get; }
    }

    /// <summary>A response of the retrieval service.</summary>
    public sealed class TransportResponse
    {
        /// <summary>Makes a response.</summary>
        /// <param name="status">The HTTP status.</param>
        /// <param name="body">The body; <c>null</c> for none.</param>
        /// <param name="retryAfter">The header field <c>Retry-After</c>; <c>null</c> if there is none.</param>
        /// <param name="contentType">The header field <c>Content-Type</c>; <c>null</c> if there is none.</param>
        /// <param name="authenticate">
        /// The header field <c>WWW-Authenticate</c>, several of them with commas; <c>null</c> if there is none. Without
        /// these two, a 401 counts as that of a proxy.
        /// </param>
        public TransportResponse(
            int status, byte[] body = null, string retryAfter = null, string contentType = null,
            string authenticate = null)
        {
            Status = status;
            Body = body ?? new byte[0];
            RetryAfter = retryAfter;
            ContentType = contentType;
            Authenticate = authenticate;
        }

        /// <summary>The HTTP status.</summary>
        public int Status { get; }

        /// <summary>The body: a secret in a successful fetch.</summary>
        public byte[] Body { get; }

        /// <summary>The header field <c>Retry-After</c>, as it came; <c>null</c> if there is none.</summary>
        public string RetryAfter { get; }

        /// <summary>The header field <c>Content-Type</c>, as it came; <c>null</c> if there is none.</summary>
        public string ContentType { get; }

        /// <summary>The header field <c>WWW-Authenticate</c>, as it came; <c>null</c> if there is none.</summary>
        public string Authenticate { get; }
    }

    /// <summary>Why there is no response.</summary>
    public enum TransportError
    {
        /// <summary>No connection, or it broke. Another try can succeed.</summary>
        Unreachable,

        /// <summary>No complete response within the time-out. Another try can succeed.</summary>
        TimedOut,

        /// <summary>The server's certificate is not trusted. Another try does not help.</summary>
        Untrusted,

        /// <summary>The body is longer than the limit. Another try does not help.</summary>
        TooLarge,
    }

    /// <summary>There is no response.</summary>
    public sealed class TransportException : Exception
    {
        /// <summary>Makes an error.</summary>
        public TransportException(TransportError error)
            : base("There is no response (" + error + ").")
        {
            Error = error;
        }

        /// <summary>The reason.</summary>
        public TransportError Error { get; }
    }
}
