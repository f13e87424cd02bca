using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;
using static SecurePush.Tests.SimulatedDevice;

namespace SecurePush.Tests
{
    /// <summary>Messages and devices in a view of the app.</summary>
    [TestFixture]
    public sealed class InAppTests
    {
        private static readonly PushDevice Device = new PushDevice("https://a.notify.windows.com/");

        [Test]
        public void TheInboxIsListedInPagesAndMarksNothing() => Run(async device =>
        {
            await device.LogInAsync();
            var ids = Enumerable.Range(0, 250).Select(_ => device.Server.Send()).ToList();
            device.Server.Find(ids[0]).IsRead = true;
            var client = device.Start().Client;
            var page = await client.InboxAsync();
            Assert.That(page.Entries.Select(entry => entry.Id), Is.EqualTo(ids.Take(200)));
            Assert.That(page.HasNext);
            Assert.That(page.Unread, Is.EqualTo(249));
            Assert.That(page.Entries[0].IsRead && !page.Entries[1].IsRead);
            Assert.That(
                page.Entries[0].CreatedAt, Is.EqualTo(new DateTimeOffset(2026, 11, 22, 10, 0, 0, TimeSpan.Zero)));
            page = await client.InboxAsync(page.Entries.Last().Id);
            Assert.That(page.Entries.Select(entry => entry.Id), Is.EqualTo(ids.Skip(200)));
            Assert.That(page.HasNext, Is.False);
            Assert.That((await client.InboxAsync(unreadOnly: true)).Entries[0].Id, Is.EqualTo(ids[1]));
            Assert.That(device.Server.Notifications.Count(entry => entry.IsRead), Is.EqualTo(1));
            Assert.That(device.Screen.Secrets.Count + device.Screen.Hints, Is.EqualTo(0));
        });

        [Test]
        public void ASecretIsReadWithoutBeingShown() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start(adjust: configuration => configuration.EncryptsEndToEnd = true);
            var installation = await app.Client.RegisterAsync(Device);
            var key = device.Disk.PublicKey;
            var plain = device.Server.Send("\"a\"");
            var locked = device.Server.Send(device.Sender.Seal("{\"b\":1}", installation, key));
            var others = device.Server.Send(device.Sender.Seal("\"c\"", "another", key));
            Assert.That((await app.Client.ReadAsync(plain)).Text, Is.EqualTo("a"));
            var secret = await app.Client.ReadAsync(locked);
            Assert.That(secret.Json, Is.EqualTo("{\"b\":1}"));
            Assert.That(secret.WasRead, Is.False);
            Assert.That((await app.Client.ReadAsync(locked)).WasRead);
            Assert.That(device.Screen.Badges.Last(), Is.EqualTo(1));
            Assert.That(await CodeAsync(() => app.Client.ReadAsync(others)), Is.EqualTo("SP-KEY"));
            Assert.That(await CodeAsync(() => app.Client.ReadAsync(PushId.From("01"))), Is.EqualTo("SP-404"));
            device.Disk.IsKeyUnreadable = true;
            Assert.That(await CodeAsync(() => app.Client.ReadAsync(locked)), Is.EqualTo("SP-KEY"));
            Assert.That(device.Screen.Secrets, Is.Empty);
        });

        [Test]
        public void NothingIsGivenToTheNextUser() => Run(async device =>
        {
            await device.LogInAsync();
            var app = device.Start();
            var reading = app.Client.ReadAsync(device.Server.Send());
            var listing = app.Client.InboxAsync();
            await device.Clock.SleepAsync(0.02, CancellationToken.None);
            await app.Client.LogOutAsync();
            await app.Credentials.LogInWithTokenAsync("bob", "token");
            Assert.That(await CodeAsync(() => reading), Is.EqualTo("SP-LOGIN"));
            Assert.That(await CodeAsync(() => listing), Is.EqualTo("SP-LOGIN"));
        });

        [Test]
        public void DevicesAreListedAndRemoved() => Run(async device =>
        {
            await device.LogInAsync();
            var client = device.Start().Client;
            var own = await client.RegisterAsync(Device);
            foreach (var id in new[] { "phone-1", "tablet_2", "web.3", "0" })
            {
                device.Server.Installations[id] = "{\"installationId\":\"" + id + "\",\"platform\":\"apns\"}";
            }

            var devices = await client.DevicesAsync();
            var ids = new[] { "0", own, "phone-1", "tablet_2", "web.3" }.OrderBy(id => id, StringComparer.Ordinal);
            Assert.That(devices.Select(entry => entry.Id), Is.EqualTo(ids));
            Assert.That(devices.Single(entry => entry.IsThisDevice).Platform, Is.EqualTo("wns"));
            Assert.That(
                devices[0].LastSeenAt, Is.EqualTo(new DateTimeOffset(2026, 11, 22, 0, 0, 0, TimeSpan.Zero)));
            await client.RemoveDeviceAsync("phone-1");
            await client.RemoveDeviceAsync("phone-1");
            Assert.That(device.Server.Installations.ContainsKey("phone-1"), Is.False);
            foreach (var id in new[] { "", "..", "a/b", "a?b", "ä", new string('a', 129), null })
            {
                Assert.That(await IsRefusedAsync(() => client.RemoveDeviceAsync(id)), id);
            }
        });

        /// <summary>The server compares IDs without regard to case, so a list may have another spelling.</summary>
        [Test]
        public void RemovingThisDeviceUnregistersItAndKeepsTheUserLoggedIn() => Run(async device =>
        {
            await device.LogInAsync();
            var client = device.Start().Client;
            var own = await client.RegisterAsync(Device);
            device.Server.Installations[own] =
                "{\"installationId\":\"" + own.ToUpperInvariant() + "\",\"platform\":\"wns\"}";
            var listed = (await client.DevicesAsync()).Single();
            Assert.That(listed.IsThisDevice);
            await client.RemoveDeviceAsync(listed.Id);
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Disk.Credentials.UserName, Is.EqualTo(SimulatedServer.User));
            Assert.That(await client.RegisterAsync(Device), Is.Not.EqualTo(own));
        });

        [Test]
        public void SigningOutEverywhereRemovesAllDevicesFirst() => Run(async device =>
        {
            await device.LogInAsync();
            var client = device.Start().Client;
            await client.RegisterAsync(Device);
            device.Server.Installations["phone-1"] = "{}";
            device.Server.Intercept = request => throw new TransportException(TransportError.Unreachable);
            Assert.That(await CodeAsync(() => client.SignOutEverywhereAsync()), Is.EqualTo("SP-OFFLINE"));
            Assert.That(device.Disk.Credentials.UserName, Is.EqualTo(SimulatedServer.User));
            device.Server.Intercept = request => null;
            await client.SignOutEverywhereAsync();
            Assert.That(device.Server.Installations, Is.Empty);
            Assert.That(device.Server.Sessions, Is.EqualTo(0));
            Assert.That(device.Disk.Credentials, Is.Null);
        });

        [Test]
        public void CallsEndWhenTheyAreCancelled() => Run(async device =>
        {
            await device.LogInAsync();
            var client = device.Start().Client;
            var id = device.Server.Send();
            foreach (var call in new Func<CancellationToken, Task>[]
            {
                token => client.InboxAsync(cancellation: token), token => client.ReadAsync(id, token),
                token => client.DevicesAsync(token), token => client.RemoveDeviceAsync("a", token),
                token => client.SignOutEverywhereAsync(token), token => client.RegisterAsync(Device, token),
                token => client.MarkAsReadAsync(new[] { id }, token), token => client.MarkAsReadThroughAsync(id, token),
            })
            {
                var source = new CancellationTokenSource();
                var task = call(source.Token);
                await device.Clock.SleepAsync(0.02, CancellationToken.None);
                source.Cancel();
                try
                {
                    await task;
                    Assert.Fail("It went on.");
                }
                catch (OperationCanceledException)
                {
                    Assert.That(device.Disk.Credentials.UserName, Is.EqualTo(SimulatedServer.User));
                }
            }

            var ended = new CancellationTokenSource();
            ended.Cancel();
            Assert.That((await client.CatchUpAsync(ended.Token)).Code.ToString(), Is.EqualTo("SP-TIMEOUT"));
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

        private static async Task<bool> IsRefusedAsync(Func<Task> work)
        {
            try
            {
                await work();
                return false;
            }
            catch (ArgumentException)
            {
                return true;
            }
        }
    }
}
