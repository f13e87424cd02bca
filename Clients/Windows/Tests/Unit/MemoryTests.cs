using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// The memory of a wake with the longest payload, in a process of its own, with the real transport, store and data
    /// protection.
    /// </summary>
    [TestFixture]
    public sealed class MemoryTests
    {
        private const string Small = "019aa4a2-1c9b-7000-8000-000000000001";
        private const string Large = "019aa4a2-1c9b-7000-8000-000000000002";

        /// <summary>
        /// In KiB. The runtime takes memory in large steps and gives it back late, so the bound is generous. What stays
        /// on the heap has no bound: the collector keeps what a word on a stack of the thread pool seems to point to.
        /// </summary>
        private const int MaxGrowth = 32 << 10;

        private string folder;

        [SetUp]
        public void MakeFolder() => folder = Path.Combine(Path.GetTempPath(), "securepush-" + Guid.NewGuid());

        [TearDown]
        public void RemoveFolder() => Directory.Delete(folder, true);

        /// <summary>
        /// A payload of 256 KiB as it is, with each character as six bytes of JSON, and encrypted.
        /// </summary>
        [TestCase("plain", 256 << 10)]
        [TestCase("escaped", 256 << 10)]
        [TestCase("encrypted", 190000)]
        public void APayloadOf256KiBTakesLittleMemory(string form, int length)
        {
            var payload = "";
            var inbox = LoopbackServer.Response("200 OK", "{\"Notifications\":[],\"Unread\":0}");
            var small = LoopbackServer.Response("200 OK", Answer(Small, "\"hi\""));
            var done = LoopbackServer.Response("204 No Content");
            var registered = LoopbackServer.Response("200 OK");
            byte[] large = null;
            using (var server = new LoopbackServer(
                path => path.EndsWith("/shown") || path.EndsWith("/key") ? done
                    : path.Contains("/installations/") ? registered
                    : path.Contains(Small) ? small : path.Contains(Large) ? large : inbox))
            {
                switch (form)
                {
                    case "plain":
                        payload = "\"" + new string('x', length) + "\"";
                        break;
                    case "escaped":
                        payload = "\"" + string.Concat(Enumerable.Repeat("\\u0001", length)) + "\"";
                        break;
                    default:
                        payload = Sealed("\"" + new string('x', length) + "\"", server.Url);
                        break;
                }

                large = LoopbackServer.Response("200 OK", Answer(Large, payload));
                var seen = Probe(server.Url);
                Console.WriteLine(
                    "Memory, 256 KiB {0}: the wake grew by {1} KiB at its peak (at most {2}), from {3} KiB. {4} KiB "
                    + "stayed on the heap.", form, seen[3], MaxGrowth, seen[2], seen[4]);
                Assert.That(seen.Take(2), Is.EqualTo(new[] { 1, length }));
                Assert.That(seen[3], Is.LessThanOrEqualTo(MaxGrowth));
            }
        }

        private static string Answer(string id, string payload) =>
            "{\"Id\":\"" + id + "\",\"Payload\":" + payload + ",\"Read\":false,\"Unread\":0}";

        /// <summary>Registers a device whose store is in the folder, and encrypts a text for it.</summary>
        private string Sealed(string content, string url)
        {
            var store = new FileClientStore(folder, new DpapiProtector());
            var device = new SimulatedDevice();
            var process = new SimulatedProcess();
            var client = new SecurePushClient(
                new SecurePushConfiguration(new Uri(url)) { EncryptsEndToEnd = true },
                new FixedCredentialsProvider("alice", ClientCredentials.Bearer("token")), store,
                new HttpClientTransport(), new SimulatedPresenter(device.Screen, process, device.NoFaults), null,
                new LibCrypto());
            var installation = client.RegisterAsync(new PushDevice("https://a.notify.windows.com/")).Result;
            var keys = EncryptionKeys.Decode(store.ReadEncryptionKeysAsync().Result);
            var sender = new TestSender { At = (long)new SystemClientClock().UnixTime };
            return sender.Seal(content, installation, keys.Newest.PublicKey);
        }

        /// <summary>The numbers that the other process prints.</summary>
        private int[] Probe(string url)
        {
            var start = new ProcessStartInfo("mono", string.Join(" ", "MemoryProbe.exe", url, folder, Small, Large))
            {
                UseShellExecute = false, RedirectStandardOutput = true,
            };
            using (var process = Process.Start(start))
            {
                var output = process.StandardOutput.ReadToEnd();
                process.WaitForExit();
                Assert.That(process.ExitCode, Is.EqualTo(0));
                return output.Split(' ').Select(int.Parse).ToArray();
            }
        }
    }
}
