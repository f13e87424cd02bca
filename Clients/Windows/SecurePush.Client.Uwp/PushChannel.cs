using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Windows.Networking.PushNotifications;

namespace SecurePush.Uwp
{
    /// <summary>
    /// The app's channel to the Windows Push Notification Services. A channel ends after 30 days, so the app asks for
    /// one at each start.
    /// </summary>
    public sealed class PushChannel
    {
        /// <summary>The channels of Windows have hosts of this domain.</summary>
        private const string Domain = ".notify.windows.com";

        /// <summary>Windows may not answer while it cannot reach its push service.</summary>
        private const double SecondsToOpen = 20;

        private readonly SecurePushClient client;
        private PushNotificationChannel current;

        /// <summary>Makes a channel for a client.</summary>
        public PushChannel(SecurePushClient client)
        {
            this.client = client;
        }

        /// <summary>Called with the report of each push that arrived while the app runs.</summary>
        public event Action<WakeReport> Received;

        /// <summary>
        /// Asks Windows for the channel and registers it, if that is due. From now on, pushes that arrive while the app
        /// runs go to the client at once.
        /// </summary>
        /// <param name="tags">Tags of the app.</param>
        /// <returns>The installation's ID.</returns>
        /// <exception cref="SecurePushException">
        /// The device is not registered. <c>SP-OFFLINE</c>: Windows gave no channel, usually without a network.
        /// </exception>
        public async Task<string> RegisterAsync(IEnumerable<string> tags = null)
        {
            var channel = await OpenAsync();
            if (current == null || current.Uri != channel.Uri)
            {
                Forget();
                current = channel;
                current.PushNotificationReceived += OnReceived;
            }

            return await client.RegisterAsync(new PushDevice(channel.Uri, tags));
        }

        /// <summary>
        /// Logs the user out (<see cref="SecurePushClient.LogOutAsync"/>), and takes no more pushes of the channel.
        /// </summary>
        /// <returns>Whether the server knows it. If not, it is told at the next wake.</returns>
        /// <exception cref="SecurePushException">The store cannot be read or written.</exception>
        public Task<bool> LogOutAsync(CancellationToken cancellation = default(CancellationToken))
        {
            Forget();
            return client.LogOutAsync(cancellation);
        }

        /// <summary>Unregisters the device (<see cref="SecurePushClient.UnregisterAsync"/>).</summary>
        /// <returns>Whether the server knows it. If not, it is told at the next wake.</returns>
        /// <exception cref="SecurePushException">The store cannot be read or written.</exception>
        public Task<bool> UnregisterAsync(CancellationToken cancellation = default(CancellationToken))
        {
            Forget();
            return client.UnregisterAsync(cancellation);
        }

        private static async Task<PushNotificationChannel> OpenAsync()
        {
            try
            {
                var opening = OpenNowAsync();
                if (await Task.WhenAny(opening, Task.Delay(TimeSpan.FromSeconds(SecondsToOpen))) == opening
                    && IsOfWindows((await opening).Uri))
                {
                    return await opening;
                }
            }
            catch (Exception)
            {
                // Windows has many errors for it; another try at the next start may succeed.
            }

            throw new SecurePushException(DiagnosticCode.Unreachable);
        }

        private static async Task<PushNotificationChannel> OpenNowAsync() =>
            await PushNotificationChannelManager.CreatePushNotificationChannelForApplicationAsync();

        private static bool IsOfWindows(string uri) =>
            Uri.TryCreate(uri, UriKind.Absolute, out var address) && address.Scheme == "https"
            && address.Host.EndsWith(Domain, StringComparison.OrdinalIgnoreCase);

        private void Forget()
        {
            if (current != null)
            {
                current.PushNotificationReceived -= OnReceived;
                current = null;
            }
        }

        private async void OnReceived(PushNotificationChannel sender, PushNotificationReceivedEventArgs args)
        {
            if (args.NotificationType != PushNotificationType.Raw || args.RawNotification == null)
            {
                return;
            }

            // Otherwise the background task gets it, too.
            args.Cancel = true;
            var report = await client.HandleAsync(IncomingPush.FromRaw(args.RawNotification.Content));
            Received?.Invoke(report);
        }
    }
}
