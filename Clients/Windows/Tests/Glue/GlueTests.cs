using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using NUnit.Framework;
using SecurePush.Uwp;
using Windows.ApplicationModel.Background;
using Windows.ApplicationModel.Resources;
using Windows.Networking.PushNotifications;
using Windows.Security.Cryptography.DataProtection;
using Windows.UI.Notifications;

namespace SecurePush.Tests
{
    /// <summary>The glue for Windows, on the stand-ins.</summary>
    [TestFixture]
    public sealed class GlueTests
    {
        private static readonly PushId First = PushId.From("019aa4a2-1c9b-7000-8000-000000000001");
        private static readonly PushId Longest = PushId.From(new string('a', 64));
        private readonly ToastPresenter presenter = new ToastPresenter();

        [SetUp]
        public void Clear()
        {
            ToastNotificationManager.Toasts.Clear();
            ToastNotificationManager.Refuses = false;
            BadgeUpdateManager.Badge = null;
            ResourceLoader.Texts.Clear();
            ResourceLoader.Texts["securepush/generic"] = "You have a new message. ({0})";
            ResourceLoader.Texts["securepush/log-in"] = "Log in. ({0})";
            BackgroundExecutionManager.Status = BackgroundAccessStatus.AllowedSubjectToSystemPolicy;
            foreach (var task in BackgroundTaskRegistration.AllTasks.Values.ToList())
            {
                task.Unregister(true);
            }

            DataProtectionProvider.Failure = 0;
        }

        private static IEnumerable<string> Texts() =>
            ToastNotificationManager.Toasts.Select(toast => toast.Content.DocumentElement.InnerText);

        private static SecretNotification Secret(PushId id, string text) => new SecretNotification(id, text, "\"\"");

        [Test]
        public void ASecretReplacesItsGenericTextAndIsRemovedByItsId()
        {
            presenter.ShowAsync(new GenericNotice(First, "securepush.generic", DiagnosticCode.TimedOut)).Wait();
            Assert.That(Texts(), Is.EqualTo(new[] { "You have a new message. (SP-TIMEOUT)" }));
            Assert.That(presenter.DisplayedSecretsAsync().Result, Is.Empty);
            presenter.ShowAsync(Secret(First, "<4711> & \"more\"")).Wait();
            presenter.ShowAsync(Secret(Longest, "other")).Wait();
            Assert.That(Texts(), Is.EqualTo(new[] { "<4711> & \"more\"", "other" }));
            Assert.That(presenter.DisplayedSecretsAsync().Result, Is.EquivalentTo(new[] { First, Longest }));
            foreach (var toast in ToastNotificationManager.Toasts)
            {
                Assert.That(toast.NotificationMirroring, Is.EqualTo(NotificationMirroring.Disabled));
                Assert.That(
                    toast.ExpirationTime - DateTimeOffset.UtcNow,
                    Is.GreaterThan(TimeSpan.FromHours(23)).And.LessThanOrEqualTo(TimeSpan.FromDays(1)));
            }

            var launch = ToastNotificationManager.Toasts[0].Content.DocumentElement.GetAttribute("launch");
            Assert.That(ToastPresenter.IdOf(launch), Is.EqualTo(First));
            presenter.RemoveAsync(new[] { First, PushId.From("unknown") }).Wait();
            Assert.That(Texts(), Is.EqualTo(new[] { "other" }));
        }

        [Test]
        public void ThePromptIsOneToastAndGoes()
        {
            for (var i = 0; i < 2; i++)
            {
                var prompt = new LogInPrompt(new[] { First }, "securepush.log-in", DiagnosticCode.LoggedOut);
                presenter.ShowAsync(prompt).Wait();
            }

            presenter.ShowAsync(new GenericNotice(null, "securepush.unknown", DiagnosticCode.Locked)).Wait();
            Assert.That(Texts(), Is.EqualTo(new[] { "Log in. (SP-LOGIN)", "SP-LOCKED" }));
            presenter.RemovePromptAsync().Wait();
            Assert.That(Texts(), Is.Empty);
        }

        [Test]
        public void LongAndStrangeTextsAreShown()
        {
            presenter.ShowAsync(Secret(First, new string('ä', 200000))).Wait();
            Assert.That(Texts().Single(), Has.Length.GreaterThan(1500).And.StringEnding("…"));
            presenter.ShowAsync(Secret(First, new string('"', 200000))).Wait();
            presenter.ShowAsync(Secret(First, "a\u0000\u0001\ud800b\uffff\ud83d\ude00\r\n")).Wait();
            Assert.That(Texts().Single(), Is.EqualTo("a\ufffd\ufffd\ufffdb\ufffd\ud83d\ude00\n"));
            presenter.ShowAsync(Secret(First, string.Concat(Enumerable.Repeat("\ud83d\ude00", 3000)))).Wait();
            Assert.That(Texts().Single().IndexOf('\ufffd'), Is.EqualTo(-1));
        }

        [Test]
        public void AMessageHasItsTitleItsThreadAndItsButtons()
        {
            var end = DateTimeOffset.UtcNow.AddMinutes(5);
            presenter.ShowAsync(MessageOf(
                "{\"Title\":\"<Login>\",\"Body\":\"Approve?\",\"Thread\":\"logins\",\"Level\":\"time-sensitive\","
                + "\"Actions\":[{\"Id\":\"approve\",\"Title\":\"Yes & no\"},{\"Id\":\"deny\",\"Title\":\"No\","
                + "\"Input\":true}]}").With(MessageDisplay.Full, end)).Wait();
            var toast = ToastNotificationManager.Toasts.Single();
            Assert.That(toast.Content.GetXml().Replace(" />", "/>"), Is.EqualTo(
                "<toast launch=\"securepush-secret=" + First + "\"><header id=\"logins\" title=\"&lt;Login&gt;\" "
                + "arguments=\"securepush-thread.\"/><visual><binding template=\"ToastGeneric\">"
                + "<text>&lt;Login&gt;</text><text>Approve?</text></binding></visual><actions>"
                + "<input id=\"deny\" type=\"text\"/>"
                + "<action content=\"Yes &amp; no\" arguments=\"securepush-answer=" + First
                + "/approve\" activationType=\"foreground\"/><action content=\"No\" arguments=\"securepush-answer="
                + First + "/deny\" hint-inputId=\"deny\"/></actions></toast>"));
            Assert.That(toast.Priority, Is.EqualTo(ToastNotificationPriority.High));
            Assert.That(toast.SuppressPopup, Is.False);
            Assert.That(toast.ExpirationTime, Is.EqualTo(end));
            presenter.ShowAsync(MessageOf("{\"Body\":\"x\",\"Level\":\"passive\"}")).Wait();
            toast = ToastNotificationManager.Toasts.Single();
            Assert.That(toast.SuppressPopup);
            Assert.That(toast.Content.GetXml(), Is.StringContaining("<audio silent=\"true\""));
            Assert.That(presenter.DisplayedSecretsAsync().Result, Is.EqualTo(new[] { First }));
        }

        /// <summary>Windows refuses more than 5 KB. Every member is as long as it may be, and is escaped.</summary>
        [Test]
        public void TheLongestMessageIsShown()
        {
            foreach (var character in new[] { "\\\"", "&", "ä" })
            {
                Func<int, string> text = bytes => string.Concat(
                    Enumerable.Repeat(character, bytes / (character == "ä" ? 2 : 1)));
                var actions = string.Join(",", new[] { "a", "b", "c" }.Select(name =>
                    "{\"Id\":\"" + new string('x', 31) + name + "\",\"Title\":\"" + text(64) + "\",\"Input\":true}"));
                presenter.ShowAsync(MessageOf(
                    "{\"Title\":\"" + text(200) + "\",\"Body\":\"" + text(4000) + "\",\"Thread\":\"" + text(64)
                    + "\",\"Actions\":[" + actions + "]}")).Wait();
                Assert.That(Texts().Single(), Is.StringContaining("…"));
            }
        }

        private static SecretNotification MessageOf(string json)
        {
            var secret = new SecretNotification(First, null, json)
                .WithContent(JsonValue.Parse(System.Text.Encoding.UTF8.GetBytes(json)));
            Assert.That(secret.Message, Is.Not.Null, json);
            return secret;
        }

        [Test]
        public void ARefusalIsAnErrorAndTheBadgeIsANumber()
        {
            ToastNotificationManager.Refuses = true;
            Assert.That(() => presenter.ShowAsync(Secret(First, "x")).Wait(), Throws.Exception);
            presenter.SetBadgeAsync(12).Wait();
            Assert.That(BadgeUpdateManager.Badge, Is.EqualTo("12"));
            presenter.SetBadgeAsync(0).Wait();
            Assert.That(BadgeUpdateManager.Badge, Is.Null);
        }

        [Test]
        public void TheTaskIsRegisteredOnceAndOnlyWithPermission()
        {
            BackgroundExecutionManager.Status = BackgroundAccessStatus.DeniedByUser;
            Assert.That(PushTaskRegistration.EnsureAsync("PushTask.RawPush").Result, Is.False);
            Assert.That(BackgroundTaskRegistration.AllTasks, Is.Empty);
            BackgroundExecutionManager.Status = BackgroundAccessStatus.AlwaysAllowed;
            Assert.That(PushTaskRegistration.EnsureAsync("PushTask.RawPush").Result);
            Assert.That(PushTaskRegistration.EnsureAsync("PushTask.RawPush").Result);
            var task = (BackgroundTaskRegistration)BackgroundTaskRegistration.AllTasks.Values.Single();
            Assert.That(task.EntryPoint, Is.EqualTo("PushTask.RawPush"));
            Assert.That(task.HasNetwork);
            Assert.That(task.Trigger, Is.InstanceOf<PushNotificationTrigger>());
        }

        [Test]
        public void WithoutAnAnswerToTheQuestionForThePermissionThereIsNoTask()
        {
            BackgroundExecutionManager.IsSilent = true;
            try
            {
                var registration = PushTaskRegistration.EnsureAsync("PushTask.RawPush");
                Assert.That(registration.Wait(TimeSpan.FromSeconds(30)));
                Assert.That(registration.Result, Is.False);
            }
            finally
            {
                BackgroundExecutionManager.IsSilent = false;
            }
        }

        /// <summary>Windows may not answer. The caller goes on, and its limit ends the call.</summary>
        [Test]
        public void ACallThatBlocksDoesNotBlockTheCaller()
        {
            ToastNotificationManager.Gate.Reset();
            var calls = Task.Run(() => new[]
            {
                presenter.ShowAsync(Secret(First, "x")),
                presenter.ShowAsync(new GenericNotice(Longest, "securepush.generic", DiagnosticCode.TimedOut)),
                presenter.RemoveAsync(new[] { First }), presenter.RemovePromptAsync(), presenter.SetBadgeAsync(0),
                presenter.SetBadgeAsync(1), presenter.DisplayedSecretsAsync(),
            });
            try
            {
                Assert.That(calls.Wait(TimeSpan.FromSeconds(30)));
                Assert.That(calls.Result.Any(call => call.IsCompleted), Is.False);
            }
            finally
            {
                ToastNotificationManager.Gate.Set();
            }

            Task.WaitAll(calls.Result);
        }

        [Test]
        public void AnotherTriggerCompletesTheTask()
        {
            var instance = new SimulatedTaskInstance("a system event");
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, () => RawPushTask.RunAsync(instance, device.Start().Client));
            Assert.That(instance.Completions, Is.EqualTo(1));
            Assert.That(device.Server.Log, Is.Empty);
        }

        [Test]
        public void AChannelIsRegisteredAndItsPushesAreTakenFromTheTask()
        {
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, async () =>
            {
                await device.LogInAsync();
                var id = device.Server.Send("\"now\"");
                var channel = new PushChannel(device.Start().Client);
                var next = new PushNotificationChannel { Uri = "https://db5p.notify.windows.com/?token=x" };
                PushNotificationChannelManager.Next = next;
                var installation = await channel.RegisterAsync(new[] { "a" });
                Assert.That(device.Server.Installations[installation], Is.StringContaining(next.Uri));
                var arrived = new TaskCompletionSource<WakeReport>();
                channel.Received += report => arrived.TrySetResult(report);
                var toast = new PushNotificationReceivedEventArgs { NotificationType = PushNotificationType.Toast };
                next.Receive(toast);
                Assert.That(toast.Cancel, Is.False);
                var raw = new PushNotificationReceivedEventArgs
                {
                    NotificationType = PushNotificationType.Raw, RawNotification = new RawNotification(device.Raw(id)),
                };
                next.Receive(raw);
                Assert.That(raw.Cancel);
                Assert.That((await arrived.Task).Shown, Is.EqualTo(new[] { id }));
                Assert.That(await channel.LogOutAsync());
                Assert.That(device.Server.Installations, Is.Empty);
            });
        }

        [TestCase("https://evil.example/")]
        [TestCase("http://db5p.notify.windows.com/")]
        [TestCase("https://notify.windows.com.evil.example/")]
        [TestCase("")]
        [TestCase(null)]
        public void OnlyChannelsOfWindowsAreRegistered(string uri)
        {
            var device = new SimulatedDevice();
            SimulatedScheduler.Run(device.Clock, async () =>
            {
                await device.LogInAsync();
                PushNotificationChannelManager.Next = uri == null ? null : new PushNotificationChannel { Uri = uri };
                try
                {
                    await new PushChannel(device.Start().Client).RegisterAsync();
                    Assert.Fail("There is no channel.");
                }
                catch (SecurePushException error)
                {
                    Assert.That(error.Code.ToString(), Is.EqualTo("SP-OFFLINE"));
                }

                Assert.That(device.Server.Installations, Is.Empty);
            });
        }

        [Test]
        public void DataProtectionTellsLockedFromDamaged()
        {
            var protector = new DataProtectionProtector();
            var plain = new byte[] { 1, 2, 3 };
            var sealedData = protector.ProtectAsync(plain).Result;
            Assert.That(DataProtectionProvider.LastDescriptor, Is.EqualTo("LOCAL=user"));
            Assert.That(protector.UnprotectAsync(sealedData).Result, Is.EqualTo(plain));
            Assert.That(protector.UnprotectAsync(new byte[] { 0 }).Result, Is.Null);
            DataProtectionProvider.Failure = unchecked((int)0x8009000B);
            var error = Assert.Throws<AggregateException>(() => protector.UnprotectAsync(sealedData).Wait());
            Assert.That(((ClientStoreException)error.InnerException).Error, Is.EqualTo(ClientStoreError.Locked));

            // RPC_S_SERVER_UNAVAILABLE: a service of Windows has not started yet.
            DataProtectionProvider.Failure = unchecked((int)0x800706BA);
            error = Assert.Throws<AggregateException>(() => protector.UnprotectAsync(sealedData).Wait());
            Assert.That(((ClientStoreException)error.InnerException).Error, Is.EqualTo(ClientStoreError.Unreadable));
        }

        [Test]
        public void ThePartsOfAProcessAreMade()
        {
            var parts = new WindowsSecurePush(new SecurePushConfiguration(new Uri("https://push.example.com")));
            Assert.That(parts.Client.WaitingAsync().Result, Is.Empty);
            Assert.That(parts.Credentials.UserNameAsync().Result, Is.Null);
            Assert.That(parts.Channel, Is.Not.Null);
        }
    }
}
