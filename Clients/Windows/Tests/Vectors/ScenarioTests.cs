using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// The scenarios of the vectors, with simulated time. Their expectations come from a model that shares no code with
    /// any SDK.
    /// </summary>
    [TestFixture]
    public sealed class ScenarioTests
    {
        [TestCase("fetch-plans.json", "cases", 700)]
        [TestCase("withdrawals.json", "cases", 30)]
        [TestCase("hostile.json", "answers", 50)]
        public void TheClientDoesWhatTheVectorsSay(string file, string member, int fewest)
        {
            var cases = VectorFile.Cases(file, member);
            int run = 0, wakes = 0, requests = 0;
            var complaints = new List<string>();
            foreach (var json in cases.Where(json => !NeedsObjects(json)))
            {
                run++;
                var scenario = new Scenario(json);
                try
                {
                    SimulatedScheduler.Run(scenario.Clock, scenario.RunAsync, longest: 366.0 * 86400);
                }
                catch (Exception error)
                {
                    scenario.Complaints.Add(error.ToString());
                }

                wakes += scenario.Wakes;
                requests += scenario.Requests;
                complaints.AddRange(scenario.Complaints.Take(1).Select(text => json["name"] + ": " + text));
            }

            Console.WriteLine(
                "Vectors, {0}: {1} cases with {2} wakes and {3} requests, {4} skipped{5}. Wrong: {6}.",
                file, run, wakes, requests, cases.Count - run,
                run < cases.Count ? ": they have values that are no texts" : "", complaints.Count);
            Assert.That(complaints, Is.Empty, string.Join("\n", complaints.Take(20)));
            Assert.That(run, Is.GreaterThanOrEqualTo(fewest));
        }

        private static bool NeedsObjects(Dictionary<string, object> json) =>
            VectorFile.List(json["wakes"]).Any(wake => (string)VectorFile.Object(wake)["kind"] == "object");

        /// <summary>One scenario: a device, its server, and its wakes.</summary>
        private sealed class Scenario
        {
            private static readonly LibCrypto Cryptography = new LibCrypto();
            private readonly Dictionary<string, object> json;
            private readonly ScenarioDevice device = new ScenarioDevice();
            private readonly SecurePushConfiguration configuration;
            private readonly ScriptedTransport transport;
            private SecurePushClient client;
            private TokenCredentialsProvider credentials;

            public Scenario(Dictionary<string, object> json)
            {
                this.json = json;
                Clock.DateOffset = ((double)json["dateMs"] / 1000) - Clock.Uptime;
                var settings = VectorFile.Object(json["configuration"]);
                var url = new Uri((string)settings["retrievalUrl"]);
                var keys = settings["pushKeys"];
                configuration = new SecurePushConfiguration(url)
                {
                    PushKeys = keys == null ? null : PublicKeySet.FromJwkSet(VectorFile.Bytes(keys)),
                };
                transport = new ScriptedTransport(VectorFile.List(json["server"]), url.Host, Clock);
                if (json["credentials"] != null)
                {
                    var stored = VectorFile.Object(json["credentials"]);
                    device.Disk.Credentials = new StoredCredentials((string)json["user"])
                    {
                        AccessToken = (string)stored["accessToken"],
                        ExpiresAt = (double?)stored["expiresAtMs"] / 1000,
                        RefreshToken = (string)stored["refreshToken"],
                    };
                }
            }

            public SimulatedClock Clock { get; } = new SimulatedClock();

            public List<string> Complaints { get; } = new List<string>();

            public int Wakes { get; private set; }

            public int Requests { get; private set; }

            public async Task RunAsync()
            {
                Start();
                var faults = VectorFile.List(json["faults"]).Select(VectorFile.Object).ToList();
                foreach (var wake in VectorFile.List(json["wakes"]).Select(VectorFile.Object))
                {
                    await Clock.SleepAsync((double)wake["afterMs"] / 1000, CancellationToken.None);
                    Begin(faults.Where(fault => (double)fault["wake"] == Wakes));
                    var begin = Clock.Uptime;
                    var report = await RunAsync(wake);
                    var end = Clock.Uptime;
                    device.Heal();
                    Compare(await ObserveAsync(report, begin, end), VectorFile.Object(wake["expect"]));
                    Wakes++;
                }
            }

            /// <summary>Starts a process.</summary>
            private void Start()
            {
                var process = new ScenarioProcess(device);
                credentials = new TokenCredentialsProvider(
                    configuration.RetrievalUrl, process.Store, transport, Clock, true);
                client = new SecurePushClient(
                    configuration, credentials, process.Store, transport, process.Presenter, Clock, Cryptography,
                    TaskScheduler.Current);
            }

            private void Begin(IEnumerable<Dictionary<string, object>> faults)
            {
                transport.Requests.Clear();
                device.Begin();
                foreach (var fault in faults)
                {
                    fault.TryGetValue("times", out var times);
                    var count = (double)(times ?? double.MaxValue);
                    fault.TryGetValue("error", out var error);
                    switch ((string)error)
                    {
                        case "unwritable":
                            device.RefusedWrites = count;
                            break;
                        case "locked":
                            device.IsLocked = true;
                            break;
                        case "damaged":
                            device.Disk.Corrupt();
                            Start();
                            break;
                        case "restarted":
                            Start();
                            break;
                        case "refused":
                            device.Refusals = count;
                            break;
                        default:
                            Clock.DateOffset += (double)fault["jumpMs"] / 1000;
                            break;
                    }
                }
            }

            private async Task<WakeReport> RunAsync(Dictionary<string, object> wake)
            {
                switch ((string)wake["kind"])
                {
                    case "push":
                        return await client.HandleAsync(IncomingPush.FromRaw(Raw(VectorFile.Object(wake["push"]))));
                    case "catchUp":
                        return await client.CatchUpAsync();
                    case "logIn":
                        await credentials.LogInAsync((string)wake["userName"], (string)wake["password"]);
                        return await client.ResumeAfterLogInAsync();
                    default:
                        throw new FormatException("An unknown kind of wake.");
                }
            }

            /// <summary>The push as a raw notification.</summary>
            private static string Raw(Dictionary<string, object> push) =>
                string.Join(" ", new[] { "secureId", "withdraw", "ts", "sig" }.Where(push.ContainsKey).Select(
                    name => name == "withdraw" && (string)push[name] == "1" ? name : (string)push[name]));

            /// <summary>What was seen, in the form of <c>expect</c>.</summary>
            private async Task<Dictionary<string, object>> ObserveAsync(WakeReport report, double begin, double end)
            {
                var seen = device.Observation();
                seen["completions"] = 1.0;
                seen["completedAtMs"] = Milliseconds(end - begin);
                seen["code"] = report.Code?.ToString();
                var result = report.Result.ToString();
                seen["result"] = char.ToLowerInvariant(result[0]) + result.Substring(1);
                seen["requests"] = transport.Requests.Select(request =>
                {
                    request.Value["atMs"] = Milliseconds(request.Key - begin);
                    return (object)request.Value;
                }).ToList();
                seen["waiting"] = ScenarioDevice.Texts(await client.WaitingAsync());
                Requests += transport.Requests.Count;
                return seen;
            }

            private static double Milliseconds(double seconds) => Math.Round(seconds * 1000);

            private void Compare(Dictionary<string, object> seen, Dictionary<string, object> expected)
            {
                foreach (var member in expected.OrderBy(member => member.Key))
                {
                    seen.TryGetValue(member.Key, out var value);
                    string was = VectorFile.Canonical(value), should = VectorFile.Canonical(member.Value);
                    if (was != should)
                    {
                        Complaints.Add(
                            "wake " + Wakes + ", " + member.Key + " was " + was + " and should be " + should);
                    }
                }
            }
        }
    }
}
