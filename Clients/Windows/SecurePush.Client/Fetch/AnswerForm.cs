using System;
using System.Linq;

namespace SecurePush
{
    /// <summary>
    /// Tells the answers of the retrieval service from those of a proxy, a gateway or a captive portal in front of it.
    /// All errors of the service are <c>application/problem+json</c>, and its 401 has <c>WWW-Authenticate</c>; what it
    /// sends else is JSON or nothing.
    /// </summary>
    internal static class AnswerForm
    {
        private const string Problem = "application/problem+json";
        private const string Json = "application/json";

        /// <summary>Whether an answer is JSON, or does not say what it is.</summary>
        public static bool IsJson(TransportResponse response)
        {
            var type = MediaType(response);
            return type == "" || type == Json || type == Problem;
        }

        /// <summary>
        /// Whether an error has the form of the service's. The JSON of a gateway has not:
        /// <c>{"message":"no Route matched"}</c>.
        /// </summary>
        public static bool IsOwnError(TransportResponse response)
        {
            var type = MediaType(response);
            return type == Problem || (type == "" && response.Body.Length == 0);
        }

        /// <summary>
        /// Whether the service itself has refused the credentials. A 401 of a proxy says nothing of them.
        /// </summary>
        public static bool IsOwnUnauthorized(TransportResponse response) =>
            response.Status == 401 && IsOwnError(response)
            && (MediaType(response) == Problem || HasChallenge(response));

        /// <summary>
        /// Whether a refusal cannot be of the service. Statuses after which the request is repeated anyway do not
        /// count.
        /// </summary>
        /// <param name="response">The answer.</param>
        /// <param name="isAuthorized">Whether the request had credentials.</param>
        public static bool IsForeignRefusal(TransportResponse response, bool isAuthorized)
        {
            var status = response.Status;
            var isFinal = status >= 400 && status < 500 && status != 408 && status != 429;
            return isFinal
                && (!IsOwnError(response) || (status == 401 && isAuthorized && !IsOwnUnauthorized(response)));
        }

        /// <summary>
        /// Whether the service has carried out a request: the status of the route, and JSON for <c>GET</c>, otherwise
        /// no body. A captive portal answers everything with 200.
        /// </summary>
        public static bool IsSuccess(TransportResponse response, RetrievalCall call) =>
            IsJson(response) && response.Status == call.Success
            && (call.Method == "GET" || response.Body.Length == 0);

        /// <summary>
        /// Whether an answer to a refresh ends the session: the service's own 401, or <c>invalid_grant</c> (RFC 6749,
        /// section 5.2).
        /// </summary>
        public static bool EndsSession(TransportResponse response)
        {
            if (response.Status != 400 || MediaType(response) != Json)
            {
                return IsOwnUnauthorized(response);
            }

            try
            {
                return JsonValue.Parse(response.Body).Members()["error"]?.Text() == "invalid_grant";
            }
            catch (FormatException)
            {
                return false;
            }
        }

        private static string MediaType(TransportResponse response) =>
            (response.ContentType ?? "").Split(';')[0].Trim().ToLowerInvariant();

        private static bool HasChallenge(TransportResponse response) =>
            (response.Authenticate ?? "").Split(',').Any(
                part => part.Trim().Split(' ')[0].Equals("Bearer", StringComparison.OrdinalIgnoreCase));
    }
}
