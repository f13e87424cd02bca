using System;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Windows.AppNotifications;
using Microsoft.Windows.PushNotifications;
using NUnit.Framework;
using SecurePush.WindowsApp;

namespace SecurePush.Tests
{
    /// <summary>The package for the Windows App SDK, on the stand-ins.</summary>
    [TestFixture]
    public sealed class WindowsAppTests
    {
        private static readonly PushId First = PushId.From("019aa4a2-1c9b-7000-8000-000000000001");
        private static readonly PushId Second = PushId.From("019aa4a2-1c9b-7000-8000-000000000002");
        private readonly AppNotificationPresenter presenter = new AppNotificationPresenter(
            key => key == "securepush.generic" ? "You have a new message. ({0})" : "", TimeSpan.FromHours(2));

        [SetUp]
        public void Clear()
        {
            AppNotificationManager.Default.Shown.Clear();
            PushNotificationManager.Default = new PushNotificationManager();
            PushNotificationManager.Supports = true;
            Windows.UI.Notifications.BadgeUpdateManager.Badge = null;
        }

        [Test]
        public void ASecretHasItsIdItsTextAndAnEnd()
        {
            presenter.ShowAsync(new SecretNotification(First, "a < b & \"c\"", "\"x\"")).Wait();
            var shown = AppNotificationManager.Default.Shown.Single();
            Assert.That(shown.Tag, Is.EqualTo(First.ToString()));
            Assert.That(shown.Group, Is.EqualTo(AppNotificationPresenter.Group));
            Assert.That(shown.Payload, Is.StringContaining("a &lt; b &amp; &quot;c&quot;"));
            Assert.That(shown.Payload, Is.StringContaining("launch=\"securepush-secret=" + First + "\""));
            Assert.That(AppNotificationPresenter.IdOf("securepush-secret=" + First), Is.EqualTo(First));
            Assert.That(shown.ExpiresOnReboot);
            Assert.That(
                shown.Expiration - DateTimeOffset.UtcNow,
                Is.GreaterThan(TimeSpan.FromMinutes(110)).And.LessThanOrEqualTo(TimeSpan.FromHours(2)));
            presenter.ShowAsync(new SecretNotification(First, new string('x', 9000), "\"x\"")).Wait();
            Assert.That(AppNotificationManager.Default.Shown.Single().Payload, Is.StringContaining("x…"));
        }

        [Test]
        public void TextsAreReplacedAndRemoved()
        {
            presenter.ShowAsync(new GenericNotice(First, "securepush.generic", DiagnosticCode.TimedOut)).Wait();
            Assert.That(
                AppNotificationManager.Default.Shown.Single().Payload,
                Is.StringContaining("You have a new message. (SP-TIMEOUT)"));
            Assert.That(presenter.DisplayedSecretsAsync().Result, Is.Empty);
            presenter.ShowAsync(new SecretNotification(First, "a", "\"a\"")).Wait();
            presenter.ShowAsync(new SecretNotification(Second, "b", "\"b\"")).Wait();
            presenter.ShowAsync(new LogInPrompt(new[] { First }, "unknown", DiagnosticCode.LoggedOut)).Wait();
            presenter.SetBadgeAsync(3).Wait();
            var foreign = new AppNotification("<toast/>") { Tag = First.ToString(), Group = "app" };
            AppNotificationManager.Default.Show(foreign);
            Assert.That(presenter.DisplayedSecretsAsync().Result, Is.EquivalentTo(new[] { First, Second }));
            presenter.RemovePromptAsync().Wait();
            presenter.RemoveAsync(new[] { First }).Wait();
            Assert.That(
                AppNotificationManager.Default.Shown.Select(shown => shown.Tag + shown.Group),
                Is.EquivalentTo(new[] { Second + "securepush", First + "app" }));
            Assert.That(Windows.UI.Notifications.BadgeUpdateManager.Badge, Is.EqualTo("3"));
            presenter.RemoveAllAsync().Wait();
            Assert.That(AppNotificationManager.Default.Shown.Single(), Is.SameAs(foreign));
            Assert.That(Windows.UI.Notifications.BadgeUpdateManager.Badge, Is.Null);
        }

        [Test]
        public void ALevelIsAPriorityOrNoBanner()
        {
            foreach (var level in new[] { "passive", "active", "time-sensitive" })
            {
                var json = Encoding.UTF8.GetBytes("{\"Body\":\"x\",\"Level\":\"" + level + "\"}");
                presenter.ShowAsync(new SecretNotification(First, null, "").WithContent(JsonValue.Parse(json))).Wait();
                var shown = AppNotificationManager.Default.Shown.Single();
                Assert.That(shown.SuppressDisplay, Is.EqualTo(level == "passive"));
                Assert.That(shown.Priority == AppNotificationPriority.High, Is.EqualTo(level == "time-sensitive"));
            }
        }

        [TestCase(true)]
        [TestCase(false)]
        public void AChannelIsRegisteredAndItsPushesAreHandled(bool isForeground) => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send("\"now\"");
            var remoteId = Guid.NewGuid();
            var channel = new AppPushChannel(device.Start().Client, remoteId);
            var manager = PushNotificationManager.Default;
            Assert.That(channel.Start() && channel.Start());
            Assert.That(manager.Registrations, Is.EqualTo(1));
            manager.Next = Answer("https://db5p.notify.windows.com/?token=x");
            var installation = await channel.RegisterAsync(new[] { "a" });
            Assert.That(manager.LastRemoteId, Is.EqualTo(remoteId));
            Assert.That(
                device.Server.Installations[installation],
                Is.StringContaining("https://db5p.notify.windows.com/?token=x"));
            var arrived = new TaskCompletionSource<WakeReport>();
            channel.Received += report => arrived.TrySetResult(report);
            var raw = new PushNotificationReceivedEventArgs
            {
                IsForeground = isForeground, Payload = Encoding.UTF8.GetBytes(device.Raw(id)),
            };
            manager.Receive(raw);
            Assert.That((await arrived.Task).Shown, Is.EqualTo(new[] { id }));
            Assert.That(raw.Completions, Is.EqualTo(isForeground ? 0 : 1));
        });

        [Test]
        public void ACancelledActivationShowsTheGenericTextAndCompletesOnce() => SimulatedDevice.Run(async device =>
        {
            await device.LogInAsync();
            var id = device.Server.Send();
            var raw = new PushNotificationReceivedEventArgs { Payload = Encoding.UTF8.GetBytes(device.Raw(id)) };
            var handling = AppPushChannel.HandleAsync(raw, device.Start().Client);
            await device.Clock.SleepAsync(0.02, CancellationToken.None);
            raw.Cancel();
            Assert.That((await handling).Code.ToString(), Is.EqualTo("SP-TIMEOUT"));
            Assert.That(device.Screen.Notices.Single().Id, Is.EqualTo(id));
            Assert.That(raw.Completions, Is.EqualTo(1));
            var empty = new PushNotificationReceivedEventArgs();
            await AppPushChannel.HandleAsync(empty, device.Start().Client);
            Assert.That(empty.Completions, Is.EqualTo(1));
        });

        [TestCase("https://evil.example/", PushNotificationChannelStatus.CompletedSuccess)]
        [TestCase("https://db5p.notify.windows.com/", PushNotificationChannelStatus.CompletedFailure)]
        [TestCase(null, PushNotificationChannelStatus.CompletedSuccess)]
        public void OnlyChannelsOfWindowsAreRegistered(string uri, PushNotificationChannelStatus status) =>
            SimulatedDevice.Run(async device =>
            {
                await device.LogInAsync();
                PushNotificationManager.Default.Next = uri == null ? null : Answer(uri, status);
                try
                {
                    await new AppPushChannel(device.Start().Client, Guid.Empty).RegisterAsync();
                    Assert.Fail("There is no channel.");
                }
                catch (SecurePushException error)
                {
                    Assert.That(error.Code.ToString(), Is.EqualTo("SP-OFFLINE"));
                }

                Assert.That(device.Server.Installations, Is.Empty);
            });

        [Test]
        public void WithoutSupportThereIsNoRegistration()
        {
            PushNotificationManager.Supports = false;
            Assert.That(new AppPushChannel(null, Guid.Empty).Start(), Is.False);
            Assert.That(PushNotificationManager.Default.Registrations, Is.EqualTo(0));
        }

        [Test]
        public void ThePartsOfAnAppAreMade()
        {
            var configuration = new SecurePushConfiguration(new Uri("https://push.example.com"));
            var options = new WindowsAppOptions("Example", Guid.NewGuid(), key => key)
            {
                Store = new MemoryClientStore(), Credentials = new FixedCredentialsProvider("alice", null),
            };
            Assert.That(options.Folder, Is.StringEnding(Path.Combine("Example", "SecurePush")));
            Assert.That(new WindowsAppPush(configuration, options).TokenCredentials, Is.Null);
            options.Credentials = null;
            var parts = new WindowsAppPush(configuration, options);
            Assert.That(parts.Client.WaitingAsync().Result, Is.Empty);
            Assert.That(parts.TokenCredentials.UserNameAsync().Result, Is.Null);
            foreach (var name in new[] { "", "..", "a/b", null, " a" })
            {
                Assert.Throws<ArgumentException>(() => new WindowsAppOptions(name, Guid.Empty, key => key));
            }
        }

        private static PushNotificationCreateChannelResult Answer(
            string uri, PushNotificationChannelStatus status = PushNotificationChannelStatus.CompletedSuccess) =>
            new PushNotificationCreateChannelResult
            {
                Channel = new PushNotificationChannel { Uri = new Uri(uri) }, Status = status,
            };
    }
}
