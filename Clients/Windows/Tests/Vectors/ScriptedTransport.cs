using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>The server of a scenario: rules, each with its answers.</summary>
    public sealed class ScriptedTransport : ITransport
    {
        private readonly List<Rule> rules;
        private readonly string host;
        private readonly SimulatedClock clock;

        public ScriptedTransport(IEnumerable<object> rules, string host, SimulatedClock clock)
        {
            this.rules = rules.Select(rule => new Rule(VectorFile.Object(rule))).ToList();
            this.host = host;
            this.clock = clock;
        }

        /// <summary>The requests of the wake, with their times.</summary>
        public List<KeyValuePair<double, Dictionary<string, object>>> Requests { get; } =
            new List<KeyValuePair<double, Dictionary<string, object>>>();

        public async Task<TransportResponse> SendAsync(
            TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation)
        {
            var answer = Record(request);
            var seconds = answer.ContainsKey("afterMs") ? (double)answer["afterMs"] / 1000 : 600;

            // What comes at the time-out or later comes too late; the client does not wait for it.
            await clock.SleepAsync(seconds < timeout ? seconds : 600, cancellation);
            if (answer.ContainsKey("error"))
            {
                throw new TransportException(
                    (string)answer["error"] == "untrusted" ? TransportError.Untrusted : TransportError.Unreachable);
            }

            var count = answer.ContainsKey("bodyBytes") ? (int)(double)answer["bodyBytes"] : -1;
            if (count > maxBytes)
            {
                throw new TransportException(TransportError.TooLarge);
            }

            var text = count >= 0 ? new string('x', count) : (string)answer["body"];
            return new TransportResponse(
                (int)(double)answer["status"], Encoding.UTF8.GetBytes(text), Header(answer, "retry-after"),
                Header(answer, "content-type"), Header(answer, "www-authenticate"));
        }

        private static string Header(Dictionary<string, object> answer, string name) =>
            answer.ContainsKey("headers") ? VectorFile.Object(answer["headers"])
                .Where(header => header.Key.ToLowerInvariant() == name)
                .Select(header => (string)header.Value).FirstOrDefault() : null;

        /// <summary>Writes a request down, and takes its answer.</summary>
        private Dictionary<string, object> Record(TransportRequest request)
        {
            var query = request.Uri.Query.TrimStart('?').Split(new[] { '&' }, StringSplitOptions.RemoveEmptyEntries)
                .Select(part => part.Split('=')).ToDictionary(part => part[0], part => (object)part[1]);
            request.Headers.TryGetValue("Authorization", out var authorization);

            // Another host would be seen here.
            var isOurs = request.Uri.Host == host && request.Uri.Scheme == "https";
            var path = isOurs ? request.Uri.AbsolutePath : request.Uri.AbsoluteUri;
            var json = new Dictionary<string, object>
            {
                { "method", request.Method }, { "path", path }, { "query", query }, { "authorization", authorization },
            };
            Requests.Add(new KeyValuePair<double, Dictionary<string, object>>(clock.Uptime, json));
            var rule = rules.Find(candidate => candidate.Fits(request.Method, path, query));
            return rule?.Next() ?? new Dictionary<string, object>
            {
                { "afterMs", 50.0 }, { "status", 404.0 }, { "headers", new Dictionary<string, object>() },
                { "body", "" },
            };
        }

        private sealed class Rule
        {
            private readonly Dictionary<string, object> json;
            private readonly Queue<object> answers;

            public Rule(Dictionary<string, object> json)
            {
                this.json = json;
                answers = new Queue<object>(VectorFile.List(json["answers"]));
            }

            public bool Fits(string method, string path, Dictionary<string, object> query) =>
                (string)json["method"] == method && (string)json["path"] == path
                && VectorFile.Object(json["query"]).All(
                    member => query.ContainsKey(member.Key) && Equals(query[member.Key], member.Value));

            public Dictionary<string, object> Next() =>
                VectorFile.Object(answers.Count > 0 ? answers.Dequeue() : json["then"]);
        }
    }
}
