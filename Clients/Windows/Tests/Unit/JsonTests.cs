using System;
using System.Linq;
using System.Text;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>Answers of the server, also hostile ones.</summary>
    [TestFixture]
    public sealed class JsonTests
    {
        private static SecretNotification Payload(string json) =>
            SecretAnswer.Read(
                Encoding.UTF8.GetBytes("{\"Id\":\"01\",\"Payload\":" + json + ",\"Read\":true,\"Unread\":3}"),
                PushId.From("01")).Secret;

        private static string Value(string json) => JsonValue.Parse(Encoding.UTF8.GetBytes(json)).Text();

        private static InboxAnswer Page(int count, string id = "01") =>
            InboxAnswer.Read(
                Encoding.UTF8.GetBytes(
                    "{\"Notifications\":[" + string.Join(",", Enumerable.Repeat("{\"Id\":\"" + id + "\"}", count))
                    + "],\"Unread\":1}"));

        [TestCase("null")]
        [TestCase("true")]
        [TestCase("-0.5e+10")]
        [TestCase("12345678901234567890123")]
        [TestCase("[]")]
        [TestCase("[1, {\"a\":null}]")]
        [TestCase("\"\\u0041\\n\\\"\"")]
        public void TheTextOfAPayloadIsKept(string json) => Assert.That(Payload(json).Json, Is.EqualTo(json));

        [Test]
        public void StringsAreUnescaped()
        {
            Assert.That(
                Value("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tA€\\uD834\\uDD1E\""),
                Is.EqualTo("a\"\\/\b\f\n\r\tA€\ud834\udd1e"));
            Assert.That(Payload("\"plain\"").WasRead);
        }

        [TestCase("01")]
        [TestCase("1.")]
        [TestCase(".5")]
        [TestCase("+1")]
        [TestCase("1e")]
        [TestCase("tru")]
        [TestCase("\"")]
        [TestCase("\"\\x\"")]
        [TestCase("\"\\u00g0\"")]
        [TestCase("\"\u0001\"")]
        [TestCase("{\"a\":\"\\x\"}")]
        [TestCase("\"\\ud834\"")]
        [TestCase("\"\\udd1e\"")]
        [TestCase("\"\\ud834\\u0041\"")]
        [TestCase("[\"\\u12\"]")]
        [TestCase("[\"\\u12")]
        [TestCase("[\"\\")]
        [TestCase("{\"\\q\":1}")]
        [TestCase("\ufeff1")]
        [TestCase("[1,]")]
        [TestCase("[1 2]")]
        [TestCase("{\"a\"}")]
        [TestCase("{a:1}")]
        [TestCase("{\"a\":1,}")]
        [TestCase("[")]
        [TestCase("")]
        public void OtherTextsAreRefused(string json) =>
            Assert.That(() => Payload(json), Throws.InstanceOf<SecurePushException>());

        /// <summary>Bytes that are not UTF-8 would be shown as U+FFFD.</summary>
        [Test]
        public void OtherBytesThanUtf8AreRefused()
        {
            foreach (var hex in new[]
            {
                "22ff22", "22c022", "22eda08022", "22f490808022", "22c080", "5b22e28222", "efbbbf31",
            })
            {
                Assert.That(() => JsonValue.Parse(Hex.Bytes(hex)), Throws.InstanceOf<FormatException>(), hex);
            }

            Assert.That(JsonValue.Parse(Hex.Bytes("22e282ac22")).Text(), Is.EqualTo("€"));
        }

        [Test]
        public void DeepNestingAndLongPagesAreRefused()
        {
            Assert.That(() => Payload(new string('[', 100000)), Throws.InstanceOf<SecurePushException>());
            var allowed = new string('[', 128) + new string(']', 128);
            Assert.That(Payload(allowed).Json, Is.EqualTo(allowed));
            Assert.That(Page(200).Entries, Has.Count.EqualTo(200));
            Assert.That(() => Page(201), Throws.InstanceOf<SecurePushException>());
            Assert.That(() => Page(1, "../x"), Throws.InstanceOf<SecurePushException>());
        }

        [Test]
        public void RandomBytesDoNoHarm()
        {
            var random = new SplitMix(7);
            var seen = 0;
            for (var i = 0; i < 20000; i++)
            {
                var bytes = new byte[random.Next() % 40];
                for (var j = 0; j < bytes.Length; j++)
                {
                    bytes[j] = (byte)"{}[]\",:\\u0019eE+-.tfn \u00c3"[(int)(random.Next() % 23)];
                }

                try
                {
                    JsonValue.Parse(bytes).Members();
                    seen++;
                }
                catch (FormatException)
                {
                    // It is not JSON, or no object.
                }

                Assert.That(Base64Url.Decode(Base64Url.Encode(bytes)), Is.EqualTo(bytes));
            }

            Assert.That(seen, Is.LessThan(20000));
        }

        [TestCase("A")]
        [TestCase("AB")]
        [TestCase("AA==")]
        [TestCase("A+")]
        [TestCase("AAB")]
        [TestCase("A A")]
        public void OtherFormsOfBase64UrlAreRefused(string text) => Assert.That(Base64Url.Decode(text), Is.Null);
    }
}
