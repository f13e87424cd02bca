using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The transport over real connections on the loopback interface.</summary>
    [TestFixture]
    public sealed class TransportTests
    {
        private static readonly HttpClientTransport Transport = new HttpClientTransport();

        private static TransportResponse Send(string url, string method = "GET", double timeout = 8, byte[] body = null)
        {
            var headers = new Dictionary<string, string>
            {
                { "Authorization", "Bearer t" }, { "Accept", "application/json" },
            };
            if (body != null)
            {
                headers["Content-Type"] = "application/json";
            }

            var request = new TransportRequest(method, new Uri(url), headers, body);
            return Transport.SendAsync(request, timeout, 1000, CancellationToken.None).GetAwaiter().GetResult();
        }

        [Test]
        public void ARequestAndItsAnswerArriveWhole()
        {
            using (var server = new LoopbackServer(_ => LoopbackServer.Response("200 OK", "{\"ä\":1}")))
            {
                var response = Send(server.Url + "/a?b=c", "PUT", 8, Encoding.ASCII.GetBytes("{}"));
                Assert.That(response.Status, Is.EqualTo(200));
                Assert.That(Encoding.UTF8.GetString(response.Body), Is.EqualTo("{\"ä\":1}"));
                Assert.That(server.Heads[0], Is.StringStarting("PUT /a?b=c HTTP/1.1"));
                Assert.That(server.Heads[0], Is.StringContaining("Authorization: Bearer t"));
                Assert.That(server.Heads[0], Is.StringContaining("Content-Type: application/json"));
            }
        }

        /// <summary>The client knows the server's 401 by its headers.</summary>
        [TestCase("HEAD")]
        [TestCase("GET")]
        [TestCase("POST")]
        public void ARefusalHasItsHeaders(string method)
        {
            const string Headers = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\nWWW-Authenticate: Basic\r\n"
                + "Content-Type: application/problem+json\r\n";
            using (var server = new LoopbackServer(_ => LoopbackServer.Response("401 Unauthorized", "", Headers)))
            {
                var response = Send(server.Url + "/", method, 8, method == "POST" ? new byte[] { 123, 125 } : null);
                Assert.That(response.Status, Is.EqualTo(401));
                Assert.That(response.ContentType, Is.EqualTo("application/problem+json"));
                Assert.That(response.Authenticate, Is.StringContaining("Bearer").And.StringContaining("Basic"));
            }
        }

        [Test]
        public void ARedirectIsTheAnswer()
        {
            LoopbackServer server = null;
            using (server = new LoopbackServer(
                path => LoopbackServer.Response("302 Found", "", "Location: /other\r\nSet-Cookie: a=b\r\n")))
            {
                Assert.That(Send(server.Url + "/").Status, Is.EqualTo(302));
                Assert.That(Send(server.Url + "/").Status, Is.EqualTo(302));
                Assert.That(server.Heads, Has.Count.EqualTo(2));
                Assert.That(server.Heads[1], Is.Not.StringContaining("Cookie"));
            }
        }

        [TestCase("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", 401, null)]
        [TestCase("429 Too Many Requests", "Retry-After: 7\r\n", 429, "7")]
        [TestCase(
            "503 Unavailable", "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n", 503, "Wed, 21 Oct 2026 07:28:00 GMT")]
        [TestCase("404 Not Found", "", 404, null)]
        public void StatusesAreAnswers(string line, string headers, int status, string retryAfter)
        {
            using (var server = new LoopbackServer(_ => LoopbackServer.Response(line, "", headers)))
            {
                var response = Send(server.Url + "/");
                Assert.That(response.Status, Is.EqualTo(status));
                Assert.That(response.RetryAfter, Is.EqualTo(retryAfter));
                Assert.That(Send(server.Url + "/", "HEAD").Status, Is.EqualTo(status));
            }
        }

        [Test]
        public void ABodyThatIsTooLongIsRefused()
        {
            using (var server = new LoopbackServer(path => path == "/known"
                ? LoopbackServer.Response("200 OK", new string('x', 1001))
                : Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + new string('x', 100000))))
            {
                foreach (var path in new[] { "/known", "/unknown" })
                {
                    Assert.That(Error(server.Url + path), Is.EqualTo(TransportError.TooLarge), path);
                }
            }
        }

        [Test]
        public void NoAnswerEndsAtTheTimeOut()
        {
            using (var server = new LoopbackServer(path => path == "/body"
                ? Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx")
                : null))
            {
                Assert.That(Error(server.Url + "/", 0.3), Is.EqualTo(TransportError.TimedOut));
            }
        }

        [Test]
        public void NoConnectionIsUnreachable()
        {
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            var port = ((IPEndPoint)listener.LocalEndpoint).Port;
            listener.Stop();
            Assert.That(Error("http://127.0.0.1:" + port + "/"), Is.EqualTo(TransportError.Unreachable));
        }

        [Test]
        public void ACancelledRequestThrowsItsCancellation()
        {
            using (var server = new LoopbackServer(_ => null))
            using (var source = new CancellationTokenSource(200))
            {
                var request = new TransportRequest("GET", new Uri(server.Url));
                Assert.That(
                    () => Transport.SendAsync(request, 8, 1000, source.Token).GetAwaiter().GetResult(),
                    Throws.InstanceOf<OperationCanceledException>());
            }
        }

        private static TransportError Error(string url, double timeout = 8) =>
            Assert.Throws<TransportException>(() => Send(url, "GET", timeout)).Error;
    }
}
