using System.Collections.Generic;
using System.Linq;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>RFC 9110, section 10.2.3. The clock shows Fri, 15 Jan 2027 08:00:00 GMT.</summary>
    [TestFixture]
    public sealed class RetryAfterTests
    {
        private const double Now = 1800000000;

        [TestCase("7", 7)]
        [TestCase("4294967295", 4294967295.0)]
        [TestCase("Fri, 15 Jan 2027 08:00:10 GMT", 10)]
        [TestCase("Mon, 15 Jan 2027 08:00:10 GMT", 10)]
        [TestCase("Fri, 15 Jan 2027 08:00:60 GMT", 60)]
        [TestCase("Thu, 29 Feb 2028 08:00:00 GMT", 410 * 86400.0)]
        [TestCase("Sun, 06 Nov 1994 08:49:37 GMT", 0)]
        [TestCase("Fri, 31 Dec 9999 23:59:60 GMT", 4294967295.0)]
        [TestCase("Friday, 15-Jan-27 08:00:10 GMT", 10)]
        [TestCase("Sunday, 06-Nov-94 08:49:37 GMT", 0)]
        [TestCase("Friday, 15-Jan-77 08:00:00 GMT", 1577923200.0)]
        [TestCase("Saturday, 15-Jan-78 08:00:00 GMT", 0)]
        [TestCase("Fri Jan 15 08:00:10 2027", 10)]
        [TestCase("Sun Nov  6 08:49:37 1994", 0)]
        public void SecondsAndDatesAreRead(string text, double seconds) =>
            Assert.That(RetryAfter.Seconds(text, Now), Is.EqualTo(seconds));

        [TestCase("Fri, 15 Jan 2027 08:00:10 CET")]
        [TestCase("Fri, 15 jan 2027 08:00:10 GMT")]
        [TestCase("fri, 15 Jan 2027 08:00:10 GMT")]
        [TestCase("15 Jan 2027 08:00:10 GMT")]
        [TestCase("Fri, 35 Jan 2027 08:00:10 GMT")]
        [TestCase("Fri, 15 Jan 2027 24:00:10 GMT")]
        [TestCase("Fri, 15 Jan 2027 08:0:10 GMT")]
        [TestCase("Fri, 15 Jan +027 08:00:10 GMT")]
        [TestCase("Mon, 29 Feb 2027 08:00:10 GMT")]
        [TestCase("Fri, 15-Jan-27 08:00:10 GMT")]
        [TestCase("Friday, 15-Jan-2027 08:00:10 GMT")]
        [TestCase("Fri Jan 35 08:00:10 2027")]
        [TestCase("Sun Nov 6 08:49:37 1994")]
        [TestCase("4294967296")]
        [TestCase("-10")]
        [TestCase(" 10")]
        [TestCase("")]
        [TestCase(null)]
        public void OtherTextsAreNot(string text) => Assert.That(RetryAfter.Seconds(text, Now), Is.Null);

        [Test]
        public void ADateThatFitsIsKept()
        {
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, async () =>
            {
                // A request takes 0.05 s, and the log-in is the first.
                device.Clock.DateOffset = Now - device.Clock.Uptime - 0.1;
                await device.LogInAsync();
                var id = device.Server.Send();
                var first = "GET /api/notifications/" + id;
                var times = new List<double>();
                device.Server.Intercept = request =>
                {
                    times.Add(device.Clock.UnixTime - Now);
                    return device.Server.Log.Last().StartsWith(first) && device.Server.Count(first) == 1
                        ? new TransportResponse(503, null, "Fri, 15 Jan 2027 08:00:10 GMT")
                        : null;
                };
                await device.Start().Client.HandleAsync(device.Push(id));
                Assert.That(device.Screen.TimesShown(id), Is.EqualTo(1));
                Assert.That(times[0], Is.EqualTo(0).Within(0.001));
                Assert.That(times[1], Is.EqualTo(10.05).Within(0.001));
            });
        }
    }
}
