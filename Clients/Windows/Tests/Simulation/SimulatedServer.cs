using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>The retrieval service, as far as a device sees it: section E of the contract.</summary>
    public sealed class SimulatedServer
    {
        public const string Host = "push.example.com";
        public const string User = "alice";
        public const string Password = "correct horse";
        public static readonly Uri Url = new Uri("https://" + Host);

        private readonly HashSet<string> accessTokens = new HashSet<string>();
        private readonly HashSet<string> refreshTokens = new HashSet<string>();
        private int count;

        public List<Stored> Notifications { get; } = new List<Stored>();

        /// <summary>Method and path with query of each request, in order.</summary>
        public List<string> Log { get; } = new List<string>();

        /// <summary>Requests to any other host, or with credentials in the URL.</summary>
        public int StrayRequests { get; private set; }

        /// <summary>The notifications whose secrets were reported as shown.</summary>
        public List<string> ShownReports { get; } = new List<string>();

        /// <summary>The bodies of all reports.</summary>
        public List<string> ShownBodies { get; } = new List<string>();

        /// <summary>The bodies of answers.</summary>
        public List<string> Answers { get; } = new List<string>();

        /// <summary>Bodies of installations, by ID.</summary>
        public Dictionary<string, string> Installations { get; } = new Dictionary<string, string>();

        /// <summary>Bodies of keys, by installation.</summary>
        public Dictionary<string, string> Keys { get; } = new Dictionary<string, string>();

        public HashSet<string> GoneInstallations { get; } = new HashSet<string>();

        /// <summary>The answer of <c>GET /api/push-keys</c>; <c>null</c>: 404.</summary>
        public string PushKeys { get; set; }

        /// <summary>Answers in place of the server; <c>null</c> for a request that it leaves to the server.</summary>
        public Func<TransportRequest, TransportResponse> Intercept { get; set; } = request => null;

        public bool IssuesTokens { get; set; } = true;

        public bool SupportsPayloadPages { get; set; } = true;

        private IEnumerable<Stored> Listed => Notifications.Where(entry => !entry.IsHidden && !entry.IsRevoked);

        private int Unread => Listed.Count(entry => !entry.IsRead);

        /// <summary>Stores a secret for the user.</summary>
        public PushId Send(string payload = null)
        {
            count++;
            var text = "019aa4a2-1c9b-7000-8000-" + count.ToString("D12");
            Notifications.Add(new Stored { Id = text, Json = payload ?? "\"secret of " + text + "\"" });
            return PushId.From(text);
        }

        public Stored Find(PushId id) => Notifications.Find(entry => entry.Id == id.ToString());

        /// <summary>How many sessions can be renewed.</summary>
        public int Sessions => refreshTokens.Count;

        /// <summary>The server refuses the access tokens that it has issued; refresh tokens stay.</summary>
        public void RevokeAccessTokens() => accessTokens.Clear();

        /// <summary>The user has to log in again.</summary>
        public void EndSessions()
        {
            accessTokens.Clear();
            refreshTokens.Clear();
        }

        public int Count(string prefix) => Log.Count(line => line.StartsWith(prefix, StringComparison.Ordinal));

        public TransportResponse Respond(TransportRequest request)
        {
            if (request.Uri.Host != Host || request.Uri.Scheme != "https" || request.Uri.UserInfo != "")
            {
                StrayRequests++;
                return new TransportResponse(200);
            }

            Log.Add(request.Method + " " + request.Uri.PathAndQuery);
            return Intercept(request) ?? Serve(request);
        }

        /// <summary>The server's own answer.</summary>
        private TransportResponse Serve(TransportRequest request)
        {
            var path = request.Uri.AbsolutePath.Trim('/').Split('/');
            if (path.Length == 2 && path[1] == "token")
            {
                return Token(request);
            }

            if (path.Length == 2 && path[1] == "push-keys")
            {
                return PushKeys == null ? Refusal(404) : Answer(PushKeys);
            }

            return IsAuthorized(request) ? Respond(request, path) : Refusal(401);
        }

        private TransportResponse Respond(TransportRequest request, string[] path)
        {
            switch (request.Method + " " + path[1] + " " + path.Length)
            {
                case "GET notifications 2":
                    return Inbox(Query(request.Uri));
                case "GET notifications 3":
                case "HEAD notifications 3":
                    return Read(path[2], Query(request.Uri), request.Method == "GET");
                case "POST notifications 4":
                    if (path[3] == "answer")
                    {
                        Answers.Add(Encoding.UTF8.GetString(request.Body));
                        return new TransportResponse(204);
                    }

                    ShownBodies.Add(Encoding.UTF8.GetString(request.Body));
                    if (JsonValue.Parse(request.Body).Members()["Text"].Text() == "secret")
                    {
                        ShownReports.Add(path[2]);
                    }

                    return Notifications.Any(entry => entry.Id == path[2]) ? new TransportResponse(204) : Refusal(404);
                case "POST notifications 3":
                    return new TransportResponse(204);
                case "PUT installations 3":
                    Installations[path[2]] = Encoding.UTF8.GetString(request.Body);
                    return GoneInstallations.Contains(path[2]) ? Refusal(410) : new TransportResponse(200);
                case "GET installations 2":
                    return Devices(Query(request.Uri));
                case "DELETE devices 2":
                    Installations.Clear();
                    return new TransportResponse(204);
                case "DELETE installations 3":
                    return Installations.Remove(path[2]) ? new TransportResponse(204) : Refusal(404);
                case "PUT devices 4":
                    Keys[path[2]] = Encoding.UTF8.GetString(request.Body);
                    return new TransportResponse(204);
                default:
                    return Refusal(404);
            }
        }

        private bool IsAuthorized(TransportRequest request)
        {
            request.Headers.TryGetValue("Authorization", out var value);
            value = value ?? "";
            return value.StartsWith("Bearer ", StringComparison.Ordinal)
                ? accessTokens.Contains(value.Substring(7))
                : value == ClientCredentials.Basic(User, Password).Authorization;
        }

        /// <summary>A log-in, or a refresh. A refresh token is single use; a second use ends the family.</summary>
        private TransportResponse Token(TransportRequest request)
        {
            if (!IssuesTokens)
            {
                return Refusal(404);
            }

            if (request.Body != null)
            {
                var presented = JsonValue.Parse(request.Body).Members()["refresh_token"].Text();
                if (!refreshTokens.Remove(presented))
                {
                    EndSessions();
                    return Refusal(401);
                }
            }
            else if (!IsAuthorized(request))
            {
                return Refusal(401);
            }

            if (request.Method == "DELETE")
            {
                return new TransportResponse(204);
            }

            count++;
            accessTokens.Add("access-" + count);
            refreshTokens.Add("refresh-" + count);
            return Answer(
                "{\"access_token\":\"access-" + count + "\",\"token_type\":\"Bearer\",\"expires_in\":3600,"
                + "\"refresh_token\":\"refresh-" + count + "\"}");
        }

        private TransportResponse Read(string id, IReadOnlyDictionary<string, string> query, bool marks)
        {
            var entry = Notifications.Find(candidate => candidate.Id == id && !candidate.IsHidden);
            if (entry == null || entry.IsRevoked)
            {
                return Refusal(entry == null ? 404 : 410);
            }

            if (!marks)
            {
                return new TransportResponse(200, null, null, "application/json");
            }

            var json = Json(entry, true);
            entry.IsRead = true;
            var unread = query.ContainsKey("include") ? ",\"Unread\":" + Unread : "";
            return Answer("{" + json + unread + "}");
        }

        private TransportResponse Inbox(IReadOnlyDictionary<string, string> query)
        {
            query.TryGetValue("After", out var after);
            var withPayload = query.ContainsKey("include") && SupportsPayloadPages;
            var limit = Math.Min(query.ContainsKey("Limit") ? int.Parse(query["Limit"]) : 50, withPayload ? 20 : 200);
            var found = Listed.Where(entry => !query.ContainsKey("Unread") || !entry.IsRead)
                .Where(entry => after == null || string.CompareOrdinal(entry.Id, after) > 0)
                .OrderBy(entry => entry.Id, StringComparer.Ordinal).ToList();
            var page = found.Take(limit).ToList();
            var entries = page.Select(entry => "{" + Json(entry, withPayload) + "}").ToList();
            page.ForEach(entry => entry.IsRead |= withPayload);
            var next = found.Count > page.Count ? ",\"Next\":\"" + page.Last().Id + "\"" : "";
            return Answer(
                "{\"Notifications\":[" + string.Join(",", entries) + "],\"Unread\":" + Unread + next + "}");
        }

        /// <summary>Pages of two devices, so that there are several.</summary>
        private TransportResponse Devices(IReadOnlyDictionary<string, string> query)
        {
            query.TryGetValue("After", out var after);
            var found = Installations.OrderBy(pair => pair.Key, StringComparer.Ordinal)
                .Where(pair => after == null || string.CompareOrdinal(pair.Key, after) > 0).ToList();
            var page = found.Take(2).Select(pair => pair.Value.TrimEnd('}')
                + ",\"UpdatedAt\":\"2026-11-21T08:30:00.000Z\",\"LastSeenAt\":\"2026-11-22T00:00:00.000Z\"}").ToList();
            var next = found.Count > 2 ? ",\"Next\":\"" + found[1].Key + "\"" : "";
            return Answer("{\"Installations\":[" + string.Join(",", page) + "]" + next + "}");
        }

        private static string Json(Stored entry, bool withPayload) =>
            "\"Id\":\"" + entry.Id + "\",\"Read\":" + (entry.IsRead ? "true" : "false")
            + (withPayload ? ",\"Payload\":" + entry.Json + entry.Rest : ",\"CreatedAt\":\"2026-11-22T10:00:00.000Z\"");

        private static TransportResponse Answer(string json) =>
            new TransportResponse(200, Encoding.UTF8.GetBytes(json), null, "application/json; charset=utf-8");

        /// <summary>An error of the server.</summary>
        public static TransportResponse Refusal(int status, string retryAfter = null) => new TransportResponse(
            status, null, retryAfter, "application/problem+json",
            status == 401 ? "Bearer error=\"invalid_token\", Basic" : null);

        /// <summary>The page of a proxy or a captive portal.</summary>
        public static TransportResponse OfProxy(int status, string text = "<html></html>") =>
            new TransportResponse(status, Encoding.UTF8.GetBytes(text), null, "text/html");

        private static IReadOnlyDictionary<string, string> Query(Uri uri) =>
            uri.Query.TrimStart('?').Split(new[] { '&' }, StringSplitOptions.RemoveEmptyEntries)
                .Select(part => part.Split('=')).ToDictionary(part => part[0], part => part[1]);

        /// <summary>A notification.</summary>
        public sealed class Stored
        {
            public string Id { get; set; }

            public string Json { get; set; }

            /// <summary>More members of an answer to a fetch, each with a comma in front.</summary>
            public string Rest { get; set; } = "";

            public bool IsRead { get; set; }

            public bool IsRevoked { get; set; }

            /// <summary>Not in the inbox and 404 until it is published.</summary>
            public bool IsHidden { get; set; }
        }
    }
}
