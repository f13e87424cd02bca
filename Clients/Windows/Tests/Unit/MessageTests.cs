using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;
using SecurePush.Uwp;

namespace SecurePush.Tests
{
    /// <summary>Messages, who shows them, answers to them, and what the server is told (contract, section L).</summary>
    [TestFixture]
    public sealed class MessageTests
    {
        private const string Approval =
            "{\"Title\":\"Login\",\"Body\":\"Approve?\",\"Link\":\"https://app.example.com/l\",\"Category\":\"login\","
            + "\"Thread\":\"logins\",\"Level\":\"time-sensitive\",\"Actions\":[{\"Id\":\"approve\",\"Title\":\"Approve\"},"
            + "{\"Id\":\"deny\",\"Title\":\"Deny\",\"Input\":true}],\"Data\":{\"n\":1.0}}";

        private static readonly PushDevice Device = new PushDevice("https://a.notify.windows.com/");

        private static void Run(
            Func<SimulatedDevice, SimulatedDevice.App, Task> body, Action<SecurePushConfiguration> adjust = null) =>
            SimulatedDevice.Run(async device =>
            {
                await device.LogInAsync();
                await body(device, device.Start(adjust: adjust));
            });

        private static async Task<string> CodeAsync(Func<Task> work)
        {
            try
            {
                await work();
                return null;
            }
            catch (SecurePushException error)
            {
                return error.Code.ToString();
            }
        }

        private static PushId Send(SimulatedDevice device, string payload, string rest)
        {
            var id = device.Server.Send(payload);
            device.Server.Find(id).Rest = rest;
            return id;
        }

        private static string Report(string text, string code = null, string device = null) =>
            "{\"Text\":\"" + text + "\",\"Sdk\":\"windows/" + Version + "\""
            + (code == null ? "" : ",\"Code\":\"" + code + "\"")
            + (device == null ? "" : ",\"DeviceId\":\"" + device + "\"") + "}";

        private static string Version
        {
            get
            {
                var props = File.ReadAllText("../Package.props");
                var begin = props.IndexOf("<Version>", StringComparison.Ordinal) + 9;
                return props.Substring(begin, props.IndexOf('<', begin) - begin);
            }
        }

        [Test]
        public void AMessageIsShownWithAllItHas() => Run(async (device, app) =>
        {
            var id = device.Server.Send(Approval);
            Assert.That((await app.Client.HandleAsync(device.Push(id))).Shown, Is.EqualTo(new[] { id }));
            var secret = device.Screen.Secrets.Single();
            Assert.That(secret.Text, Is.EqualTo("Approve?"));
            Assert.That(secret.Json, Is.EqualTo(Approval));
            var message = secret.Message;
            Assert.That(
                new[] { message.Title, message.Link, message.Category, message.Thread, message.Data },
                Is.EqualTo(new[] { "Login", "https://app.example.com/l", "login", "logins", "{\"n\":1.0}" }));
            Assert.That(message.Level, Is.EqualTo(MessageLevel.TimeSensitive));
            Assert.That(message.Actions.Select(action => action.Id), Is.EqualTo(new[] { "approve", "deny" }));
            Assert.That(secret.ToString() + message, Is.Not.StringContaining("pprove"));
            Assert.That(device.Server.ShownBodies, Is.EqualTo(new[] { Report("secret") }));
        });

        /// <summary>Other values are for the app, which also shows what the sender wants it to.</summary>
        [TestCase("{\"a\":1}", "", MessageDisplay.Full)]
        [TestCase("\"code 4711\"", ",\"Display\":\"app\"", MessageDisplay.Full)]
        [TestCase("\"code 4711\"", ",\"Display\":\"redacted\"", MessageDisplay.Full)]
        [TestCase("\"code 4711\"", ",\"Display\":\"strange\"", MessageDisplay.Full)]
        [TestCase("\"code 4711\"", "", MessageDisplay.App)]
        [TestCase("\"code 4711\"", ",\"Display\":\"redacted\"", MessageDisplay.Redacted)]
        public void WhatOnlyTheAppShowsIsReportedWhenItIsRead(
            string payload, string rest, MessageDisplay display) => Run(
            async (device, app) =>
            {
                var installation = await app.Client.RegisterAsync(Device);
                var id = Send(device, payload, rest);
                var report = await app.Client.HandleAsync(device.Push(id));
                Assert.That(report.Code, Is.Null);
                Assert.That(report.Result, Is.EqualTo(WakeResult.NewData));
                var notice = device.Screen.Notices.Single();
                Assert.That(notice.Id, Is.EqualTo(id));
                Assert.That(notice.LocalizationKey, Is.EqualTo("securepush.in-app"));
                Assert.That(notice.Code, Is.Null);
                Assert.That(await app.Client.WaitingAsync(), Is.Empty);
                Assert.That(device.Server.ShownBodies, Is.EqualTo(new[] { Report("generic", null, installation) }));

                // The app reads it twice. The server is told once.
                Assert.That((await app.Client.ReadAsync(id)).Json, Is.EqualTo(payload));
                await app.Client.ReadAsync(id);
                await app.Client.HandleAsync(device.Push(id));
                await app.Client.CatchUpAsync();
                Assert.That(device.Screen.Secrets, Is.Empty);
                Assert.That(device.Screen.Notices, Has.Count.EqualTo(1));
                Assert.That(
                    device.Server.ShownBodies.Skip(1), Is.EqualTo(new[] { Report("secret", null, installation) }));
            }, configuration => configuration.Display = display);

        [Test]
        public void AGenericTextIsReportedOnceWithItsCode() => Run(async (device, app) =>
        {
            var id = device.Server.Send("{\"e2e\":2}");
            await app.Client.HandleAsync(device.Push(id));
            await app.Client.HandleAsync(device.Push(id));
            Assert.That(device.Server.ShownBodies, Is.Empty);

            // The server knows a generic text by the device that shows it. It notes nothing of what is gone.
            var installation = await app.Client.RegisterAsync(Device);
            await app.Client.HandleAsync(device.Push(PushId.From("gone")));
            var decrypt = Report("generic", "SP-DECRYPT", installation);
            Assert.That(device.Server.ShownBodies, Is.EqualTo(new[] { decrypt }));
            device.Server.Intercept = request => throw new TransportException(TransportError.Unreachable);
            var other = device.Server.Send();
            await app.Client.HandleAsync(device.Push(other));
            Assert.That(device.Screen.Notices.Last().Code.ToString(), Is.EqualTo("SP-OFFLINE"));
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            var offline = Report("generic", "SP-OFFLINE", installation);
            Assert.That(
                device.Server.ShownBodies.Skip(1), Is.EqualTo(new[] { offline, Report("secret", null, installation) }));
        });

        /// <summary>The end of the server and of the envelope: the earlier one counts.</summary>
        [Test]
        public void WhatExpiresHasAnEndAndIsNotShownAfterIt() => Run(
            async (device, app) =>
            {
                var installation = await app.Client.RegisterAsync(Device);
                var soon = DateTimeOffset.FromUnixTimeSeconds((long)device.Clock.UnixTime + 600);
                var rest = ",\"ExpiresAt\":\"" + soon.ToString("yyyy-MM-ddTHH:mm:ss.fffZ") + "\"";
                await app.Client.HandleAsync(device.Push(Send(device, "\"x\"", rest)));
                Assert.That(device.Screen.Secrets.Last().ExpiresAt, Is.EqualTo(soon));
                foreach (var seconds in new[] { 300, 900 })
                {
                    var sender = device.Sender;
                    sender.ExpiresAt = sender.At + seconds;
                    var payload = sender.Seal("\"x\"", installation, device.Disk.PublicKey);
                    await app.Client.HandleAsync(device.Push(Send(device, payload, rest)));
                    var end = Math.Min(sender.ExpiresAt.Value, soon.ToUnixTimeSeconds());
                    Assert.That(device.Screen.Secrets.Last().ExpiresAt?.ToUnixTimeSeconds(), Is.EqualTo(end));
                }

                var over = Send(device, "\"x\"", ",\"ExpiresAt\":\"2020-01-01T00:00:00Z\"");
                var late = await app.Client.HandleAsync(device.Push(over));
                Assert.That(late.Code.ToString(), Is.EqualTo("SP-EXPIRED"));
                Assert.That(device.Screen.Notices.Single().Code.ToString(), Is.EqualTo("SP-EXPIRED"));
                var read = await app.Client.ReadAsync(over).ContinueWith(task => task.Exception?.InnerException);
                Assert.That((read as SecurePushException)?.Code.ToString(), Is.EqualTo("SP-EXPIRED"));
                Assert.That(device.Screen.Secrets, Has.Count.EqualTo(3));
            }, configuration => configuration.EncryptsEndToEnd = true);

        [Test]
        public void AnAppGetsTheSecretOfAPushOnce() => Run(async (device, app) =>
        {
            var id = Send(device, Approval, ",\"Display\":\"app\"");
            var secret = await app.Client.SecretAsync(device.Push(id));
            Assert.That(secret.Message.Title, Is.EqualTo("Login"));
            Assert.That(device.Screen.Secrets.Count + device.Screen.Hints, Is.EqualTo(0));
            Assert.That(device.Server.ShownBodies, Is.EqualTo(new[] { Report("secret") }));
            Assert.That(await app.Client.SecretAsync(device.Push(id)), Is.Null);
            Assert.That(await app.Client.SecretAsync(device.Push(id, true)), Is.Null);
            Assert.That(await CodeAsync(() => app.Client.SecretAsync(IncomingPush.FromRaw(id + " 1 x"))),
                Is.EqualTo("SP-SIGNATURE"));
            var broken = device.Server.Send("{\"e2e\":2}");
            Assert.That(await CodeAsync(() => app.Client.SecretAsync(device.Push(broken))), Is.EqualTo("SP-DECRYPT"));
            Assert.That(await app.Client.WaitingAsync(), Is.Empty);

            // A failure that may heal is left to the next wake.
            device.Server.Intercept = request => throw new TransportException(TransportError.Unreachable);
            var later = device.Server.Send();
            Assert.That(await CodeAsync(() => app.Client.SecretAsync(device.Push(later))), Is.EqualTo("SP-OFFLINE"));
            device.Server.Intercept = request => null;
            await app.Client.CatchUpAsync();
            Assert.That(device.Screen.Visible, Is.EqualTo(new[] { later }));
            device.Server.EndSessions();
            Assert.That(await CodeAsync(() => app.Client.SecretAsync(device.Push(device.Server.Send()))),
                Is.EqualTo("SP-401"));
        });

        [Test]
        public void ACancelledCallLeavesTheSecretToTheNextWake() => Run(async (device, app) =>
        {
            var id = device.Server.Send();
            var source = new CancellationTokenSource();
            var call = app.Client.SecretAsync(device.Push(id), source.Token);
            await device.Clock.SleepAsync(0.02, CancellationToken.None);
            source.Cancel();
            try
            {
                await call;
                Assert.Fail("It was cancelled.");
            }
            catch (Exception error) when (error is OperationCanceledException || error is SecurePushException)
            {
                Assert.That((await app.Client.CatchUpAsync()).Shown, Is.EqualTo(new[] { id }));
            }
        });

        [Test]
        public void AnAnswerIsSentAndEndsTheNotification() => Run(async (device, app) =>
        {
            var installation = await app.Client.RegisterAsync(Device);
            var id = device.Server.Send(Approval);
            await app.Client.HandleAsync(device.Push(id));
            await app.Client.AnswerAsync(id, "deny", "not \"me\"", "42");
            await app.Client.AnswerAsync(id, "deny");
            Assert.That(device.Server.Answers, Is.EqualTo(new[]
            {
                "{\"Action\":\"deny\",\"Text\":\"not \\\"me\\\"\",\"Challenge\":\"42\",\"DeviceId\":\"" + installation
                    + "\"}",
                "{\"Action\":\"deny\",\"DeviceId\":\"" + installation + "\"}",
            }));
            Assert.That(device.Screen.Visible, Is.Empty);
            foreach (var status in new[] { 409, 410, 422 })
            {
                device.Server.Intercept = request =>
                    request.Uri.AbsolutePath.EndsWith("/answer") ? SimulatedServer.Refusal(status) : null;
                Assert.That(
                    await CodeAsync(() => app.Client.AnswerAsync(id, "approve")), Is.EqualTo("SP-" + status));
            }

            var calls = new Func<Task>[]
            {
                () => app.Client.AnswerAsync(id, "Approve"), () => app.Client.AnswerAsync(id, ""),
                () => app.Client.AnswerAsync(id, "a", new string('ä', 1001)),
                () => app.Client.AnswerAsync(id, "a", "", ""),
                () => app.Client.AnswerAsync(id, "a", "", "4 2"), () => app.Client.AnswerAsync(null, "a"),
                () => app.Client.AnswerAsync(id, "a", "", new string('1', 17)),
            };
            foreach (var call in calls)
            {
                try
                {
                    await call();
                    Assert.Fail("It was sent.");
                }
                catch (ArgumentException)
                {
                    // Nothing was sent.
                }
            }
        });

        [Test]
        public void AButtonOfAToastIsAnAnswer()
        {
            var id = PushId.From("019aa4a2-1c9b-7000-8000-000000000001");
            var inputs = new Dictionary<string, object> { { "deny", "not me" }, { "other", 7 } };
            var answer = ToastPresenter.AnswerOf("securepush-answer=" + id + "/deny", inputs);
            Assert.That(answer.Id, Is.EqualTo(id));
            Assert.That(answer.Action + answer.Text, Is.EqualTo("denynot me"));
            Assert.That(answer.ToString(), Is.Not.StringContaining("not me"));
            Assert.That(ToastPresenter.AnswerOf("securepush-answer=" + id + "/other", inputs).Text, Is.Null);
            Assert.That(ToastPresenter.AnswerOf<string>("securepush-answer=" + id + "/deny", null).Text, Is.Null);
            Assert.That(ToastPresenter.IdOf("securepush-answer=" + id + "/deny"), Is.EqualTo(id));
            foreach (var argument in new[] { null, "", id.ToString(), "securepush-secret=" + id, "securepush-thread.",
                "securepush-answer=" + id, "securepush-answer=" + id + "/A", "securepush-answer=../x/a" })
            {
                Assert.That(ToastPresenter.AnswerOf(argument, inputs), Is.Null, argument);
            }

            Assert.That(ToastPresenter.IdOf("securepush-thread."), Is.Null);
        }

        [Test]
        public void APageHasTheMessagesAndWhyOthersAreMissing() => Run(
            async (device, app) =>
            {
                var installation = await app.Client.RegisterAsync(Device);
                device.Server.Send(Approval);
                device.Server.Send(device.Sender.Seal("\"b\"", installation, device.Disk.PublicKey));
                device.Server.Send(device.Sender.Seal("\"c\"", "another", device.Disk.PublicKey));
                var page = await app.Client.InboxWithSecretsAsync();
                Assert.That(
                    page.Entries.Select(entry => entry.Secret?.Text), Is.EqualTo(new[] { "Approve?", "b", null }));
                Assert.That(
                    page.Entries.Select(entry => entry.Code?.ToString()), Is.EqualTo(new[] { null, null, "SP-KEY" }));
                Assert.That(page.Unread, Is.EqualTo(0));
                Assert.That(device.Server.Notifications.All(entry => entry.IsRead));
                Assert.That(device.Screen.Secrets.Count + device.Screen.Hints, Is.EqualTo(0));
                page = await app.Client.InboxAsync();
                Assert.That(page.Entries.Select(entry => entry.Secret), Is.All.Null);
            }, configuration => configuration.EncryptsEndToEnd = true);
    }
}
