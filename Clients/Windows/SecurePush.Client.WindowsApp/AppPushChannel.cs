using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Windows.PushNotifications;
using SecurePush.Toasts;
using Windows.ApplicationModel.Background;

namespace SecurePush.WindowsApp
{
    /// <summary>
    /// The app's channel to the Windows Push Notification Services by the Windows App SDK, and the raw notifications
    /// that come by it. Windows starts the app for them if it does not run.
    /// </summary>
    public sealed class AppPushChannel
    {
        private readonly SecurePushClient client;
        private readonly Guid remoteId;
        private int isStarted;

        /// <summary>Makes a channel for a client.</summary>
        /// <param name="client">The client.</param>
        /// <param name="remoteId">
        /// The object ID of the app's service principal in Microsoft Entra ID ("Azure ObjectId").
        /// </param>
        public AppPushChannel(SecurePushClient client, Guid remoteId)
        {
            this.client = client;
            this.remoteId = remoteId;
        }

        /// <summary>Called with the report of each push, on any thread.</summary>
        public event Action<WakeReport> Received;

        /// <summary>
        /// Takes the raw notifications from now on. Call it once, early in <c>Main</c>, before anything else of the
        /// Windows App SDK's notifications is used.
        /// </summary>
        /// <returns>
        /// Whether this app can have pushes. Elevated apps, for example, cannot; the inbox still works.
        /// </returns>
        public bool Start()
        {
            if (!PushNotificationManager.IsSupported())
            {
                return false;
            }

            if (Interlocked.Exchange(ref isStarted, 1) == 0)
            {
                // The event first: the notification that started the app comes during the registration.
                PushNotificationManager.Default.PushReceived += OnReceived;
                PushNotificationManager.Default.Register();
            }

            return true;
        }

        /// <summary>Asks Windows for the channel and registers it, if that is due.</summary>
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
            var channel = await ChannelAddress.OpenAsync(OpenAsync, opened => opened?.Uri?.AbsoluteUri);
            return await client.RegisterAsync(new PushDevice(channel.Uri.AbsoluteUri, tags), cancellation);
        });

        /// <summary>
        /// Handles a raw notification, also the one of <c>AppInstance.GetActivatedEventArgs</c>. A deferral is
        /// completed exactly once: when the secret is shown, or, with the generic text, when Windows cancels.
        /// </summary>
        /// <param name="args">The notification.</param>
        /// <param name="client">The client of this process.</param>
        public static Task<WakeReport> HandleAsync(PushNotificationReceivedEventArgs args, SecurePushClient client)
        {
            var expiration = new CancellationTokenSource();
            BackgroundTaskCanceledEventHandler cancel = (sender, reason) => expiration.Cancel();
            BackgroundTaskDeferral deferral = null;

            // While the app is in the foreground there is neither, and asking for them is an error.
            Try(() => deferral = args.GetDeferral());
            Try(() => args.Canceled += cancel);
            return Detached.RunAsync(async () =>
            {
                try
                {
                    var text = Encoding.UTF8.GetString(args.Payload ?? new byte[0]);
                    return await client.HandleAsync(IncomingPush.FromRaw(text), expiration.Token);
                }
                finally
                {
                    Try(() => args.Canceled -= cancel);
                    deferral?.Complete();
                }
            });
        }

        private static void Try(Action call)
        {
            try
            {
                call();
            }
            catch (Exception)
            {
                // Windows offers it to background activations only.
            }
        }

        private async Task<PushNotificationChannel> OpenAsync()
        {
            var result = await PushNotificationManager.Default.CreateChannelAsync(remoteId).AsTask();
            return result.Status == PushNotificationChannelStatus.CompletedSuccess ? result.Channel : null;
        }

        private async void OnReceived(PushNotificationManager sender, PushNotificationReceivedEventArgs args)
        {
            Received?.Invoke(await HandleAsync(args, client));
        }
    }
}
