using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>What a proxy or a captive portal answers says nothing of the server.</summary>
    [TestFixture]
    public sealed class ProxyTests
    {
        private static readonly PushDevice Device = new PushDevice("https://db3.notify.windows.com/?token=1");

        /// <summary>Answers to a refresh that say nothing of the session.</summary>
        public static readonly IReadOnlyDictionary<string, TransportResponse> Strangers =
            new Dictionary<string, TransportResponse>
            {
                { "400 text/html", SimulatedServer.OfProxy(400) },
                { "400 with another error", Json(400, "{\"error\":\"invalid_request\"}") },
                { "400 without a body", new TransportResponse(400) },
                { "400 with half a JSON", Json(400, "{\"error\":\"invalid_grant\"") },
                {
                    "400 text/html that says invalid_grant",
                    SimulatedServer.OfProxy(400, "{\"error\":\"invalid_grant\"}")
                },
                { "401 text/html", SimulatedServer.OfProxy(401) },
                { "401 text/html with a challenge", new TransportResponse(401, null, null, "text/html", "Bearer") },
                { "401 without a challenge", new TransportResponse(401) },
                { "401 for the proxy", new TransportResponse(401, null, null, null, "Basic realm=\"proxy\"") },
                { "401 of a gateway", Json(401, "{\"message\":\"Unauthorized\"}") },
                { "401 of a gateway with a challenge", Gateway(401) },
                {
                    "400 without a type",
                    new TransportResponse(400, Encoding.UTF8.GetBytes("{\"error\":\"invalid_grant\"}"))
                },
                { "403 text/html", SimulatedServer.OfProxy(403) },
                { "404 text/plain", new TransportResponse(404, null, null, "text/plain") },
                { "407", new TransportResponse(407) },
                { "502 text/html", SimulatedServer.OfProxy(502) },
                { "511 text/html", SimulatedServer.OfProxy(511) },
                { "a redirect", new TransportResponse(302) },
                { "200 text/html", SimulatedServer.OfProxy(200) },
                { "200 without a body", new TransportResponse(200) },
                { "200 without the members", Json(200, "{\"ok\":true}") },
                { "200 text/html with the members", SimulatedServer.OfProxy(200, "{\"access_token\":\"stolen\"}") },
                { "204", new TransportResponse(204) },
            };

        public static IEnumerable<string> StrangerNames => Strangers.Keys;

        [TestCaseSource("StrangerNames")]
        public void AnAnswerToTheRefreshThatIsNotTheServersKeepsTheSession(string name) => Run(async device =>
        {
            var id = device.Server.Send();
            device.Server.RevokeAccessTokens();
            var token = device.Disk.Credentials.RefreshToken;
            Intercept(device, "/api/token", Strangers[name]);
            var app = device.Start();
            var report = await app.Client.HandleAsync(device.Push(id));
            Assert.That(report.Code.ToString(), Is.EqualTo("SP-CREDENTIALS"));
            Assert.That(device.Screen.Prompts, Is.Empty);
            Assert.That(device.Disk.Credentials.RefreshToken, Is.EqualTo(token));
            device.Server.Intercept = request => null;
            Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EqualTo(new[] { id }));
        });

        [TestCase(401, "application/problem+json; charset=utf-8", null, "{\"status\":401}")]
        [TestCase(401, null, "Basic realm=\"x\", Bearer error=\"invalid_token\"", "")]
        [TestCase(400, "application/json", null, "{\"error\":\"invalid_grant\"}")]
        public void TheServersOwnAnswerEndsTheSession(int status, string type, string challenge, string body) =>
            Run(async device =>
            {
                var id = device.Server.Send();
                device.Server.RevokeAccessTokens();
                Intercept(
                    device, "/api/token",
                    new TransportResponse(status, Encoding.UTF8.GetBytes(body), null, type, challenge));
                var report = await device.Start().Client.HandleAsync(device.Push(id));
                Assert.That(report.Code.ToString(), Is.EqualTo("SP-401"));
                Assert.That(device.Screen.Prompts.Count, Is.EqualTo(1));
                Assert.That(device.Disk.Credentials.RefreshToken, Is.Null);
            });

        /// <summary>The pages of a captive portal are no success of any route.</summary>
        [TestCase(200, "text/html", "<html></html>")]
        [TestCase(200, "text/html", "")]
        [TestCase(200, "application/json", "{\"status\":\"blocked\"}")]
        [TestCase(202, null, "")]
        public void AnotherSuccessIsNone(int status, string type, string body) => Run(async device =>
        {
            var page = new TransportResponse(status, Encoding.UTF8.GetBytes(body), null, type);
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            await FailsAsync(device, "/api/installations/", page, () => app.Client.RegisterAsync(Device));
            Assert.That(device.Server.Installations, Is.Empty);
            await FailsAsync(device, "/key", page, () => app.Client.RegisterAsync(Device));
            await app.Client.RegisterAsync(Device);
            var id = device.Server.Send();
            Intercept(device, "/api/notifications/" + id, page);
            Assert.That((await app.Client.HandleAsync(device.Push(id))).Code.ToString(), Is.EqualTo("SP-JSON"));
            Intercept(device, "/shown", page);
            Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EqualTo(new[] { id }));
            Assert.That(device.Server.ShownReports, Is.Empty);
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            Assert.That(device.Server.ShownReports, Is.EqualTo(new[] { id.ToString() }));
            await FailsAsync(device, "/read", page, () => app.Client.MarkAsReadAsync(new[] { id }));
            await FailsAsync(device, "/read", page, () => app.Client.MarkAsReadThroughAsync(id));
            Intercept(device, "/api/installations/", page);
            Assert.That(await app.Client.UnregisterAsync(), Is.False);
            Assert.That(device.Server.Installations.Count, Is.EqualTo(1));
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            Assert.That(device.Server.Installations, Is.Empty);
        });

        [Test]
        public void A204IsNoSuccessWhereTheRouteHas200() => Run(device => FailsAsync(
            device, "/api/installations/", new TransportResponse(204),
            () => device.Start().Client.RegisterAsync(Device)));

        /// <summary>Until the server has answered, the report is sent again.</summary>
        [TestCase(302)]
        [TestCase(429)]
        [TestCase(503)]
        [TestCase(511)]
        public void AReportIsDoneOnlyByTheServersAnswer(int status) => Run(async device =>
        {
            var ids = new[] { device.Server.Send(), device.Server.Send() };
            var app = device.Start();
            Intercept(device, "/shown", new TransportResponse(status));
            Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EquivalentTo(ids));
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            Assert.That(device.Server.ShownReports, Is.EquivalentTo(ids.Select(id => id.ToString())));
        });

        [TestCase(404)]
        [TestCase(422)]
        public void TheServersRefusalEndsAReport(int status) => Run(async device =>
        {
            device.Server.Send();
            var app = device.Start();
            Intercept(device, "/shown", SimulatedServer.Refusal(status));
            await app.Client.CatchUpAsync();
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            Assert.That(device.Server.ShownReports, Is.Empty);
        });

        [Test]
        public void ARefusalOfAProxyEndsNothing(
            [Values(401, 403, 404, 410)] int status, [Values(true, false)] bool isGateway) => Run(async device =>
        {
            var refusal = isGateway ? Gateway(status) : SimulatedServer.OfProxy(status);
            var app = device.Start();
            var first = await app.Client.RegisterAsync(Device);
            var id = device.Server.Send();
            Intercept(device, "/api/notifications/", refusal);
            Assert.That((await app.Client.HandleAsync(device.Push(id))).Code.ToString(), Is.EqualTo("SP-JSON"));
            Assert.That(await app.Client.WaitingAsync(), Is.EqualTo(new[] { id }));
            Assert.That(device.Screen.Prompts, Is.Empty);
            device.Server.Intercept = request => null;
            Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EqualTo(new[] { id }));
            Intercept(
                device, "/api/notifications/",
                new TransportResponse(status, null, null, refusal.ContentType, refusal.Authenticate));
            await app.Client.HandleAsync(device.Push(id, true));
            Assert.That(device.Screen.Visible, Is.EqualTo(new[] { id }));
            device.Server.Intercept = request => null;
            device.Clock.DateOffset += 8 * 86400;
            await FailsAsync(
                device, "/api/installations/", refusal, () => app.Client.RegisterAsync(Device));
            Assert.That(await app.Client.RegisterAsync(Device), Is.EqualTo(first));
            Intercept(device, "/api/token", refusal);
            try
            {
                await app.Credentials.LogInAsync(SimulatedServer.User, "secret");
                Assert.Fail("It is no log-in.");
            }
            catch (SecurePushException)
            {
                Assert.That(device.Disk.Credentials.Password, Is.Null);
            }
        });

        /// <summary>Kong, Traefik and others answer with JSON.</summary>
        private static TransportResponse Gateway(int status) => new TransportResponse(
            status, Encoding.UTF8.GetBytes("{\"message\":\"no Route matched\"}"), null, "application/json",
            "Bearer realm=\"gateway\"");

        private static TransportResponse Json(int status, string body) =>
            new TransportResponse(status, Encoding.UTF8.GetBytes(body), null, "application/json");

        private static void Intercept(SimulatedDevice device, string part, TransportResponse answer) =>
            device.Server.Intercept = request => request.Uri.AbsolutePath.Contains(part) ? answer : null;

        private static async Task FailsAsync(
            SimulatedDevice device, string part, TransportResponse answer, System.Func<Task> call)
        {
            Intercept(device, part, answer);
            try
            {
                await call();
                Assert.Fail("It is no success.");
            }
            catch (SecurePushException error)
            {
                Assert.That(error.Code.ToString(), Is.EqualTo("SP-JSON"));
            }

            device.Server.Intercept = request => null;
        }

        private static void Run(System.Func<SimulatedDevice, Task> test) => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            await test(device);
        });
    }
}
