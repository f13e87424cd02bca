using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using SecurePush.Toasts;
using Windows.Networking.PushNotifications;

namespace SecurePush.Uwp
{
    /// <summary>
    /// The app's channel to the Windows Push Notification Services. A channel ends after 30 days, so the app asks for
    /// one at each start.
    /// </summary>
    public sealed class PushChannel
    {
        private readonly SecurePushClient client;
        private PushNotificationChannel current;

        /// <summary>Makes a channel for a client.</summary>
        public PushChannel(SecurePushClient client)
        {
            this.client = client;
        }

        /// <summary>Called with the report of each push that arrived while the app runs, on any thread.</summary>
        public event Action<WakeReport> Received;

        /// <summary>
        /// Asks Windows for the channel and registers it, if that is due. From now on, pushes that arrive while the app
        /// runs go to the client at once.
        /// </summary>
        /// <param name="tags">Tags of the app.</param>
        /// <param name="cancellation">Ends the registration.</param>
        /// <returns>The installation's ID.</returns>
        /// <exception cref="SecurePushException">
        /// The device is not registered. <c>SP-OFFLINE</c>: Windows gave no channel, usually without a network.
        /// </exception>
        public Task<string> RegisterAsync(
            IEnumerable<string> tags = null,
            CancellationToken cancellation = default(CancellationToken)) => Detached.RunAsync(async () =>
        {
            var channel = await ChannelAddress.OpenAsync(
                () => PushNotificationChannelManager.CreatePushNotificationChannelForApplicationAsync().AsTask(),
                opened => opened.Uri);
            if (current == null || current.Uri != channel.Uri)
            {
                Forget();
                current = channel;
                current.PushNotificationReceived += OnReceived;
            }

            return await client.RegisterAsync(new PushDevice(channel.Uri, tags), cancellation);
        });

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
            var push = IncomingPush.FromRaw(args.RawNotification.Content);
            Received?.Invoke(await Detached.RunAsync(() => client.HandleAsync(push)));
        }
    }
}
