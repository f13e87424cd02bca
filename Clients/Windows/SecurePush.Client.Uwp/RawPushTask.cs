using System;
using System.Threading;
using System.Threading.Tasks;
using Windows.ApplicationModel.Background;
using Windows.Networking.PushNotifications;

namespace SecurePush.Uwp
{
    /// <summary>The work of a background task that a raw notification has started (<c>IBackgroundTask</c>).</summary>
    public static class RawPushTask
    {
        /// <summary>
        /// Fetches the secret of the raw notification and shows it. The deferral is completed exactly once: when the
        /// secret is shown, or when Windows cancels the task, with the generic text.
        /// </summary>
        /// <param name="instance">The argument of <c>Run</c>, or of <c>OnBackgroundActivated</c>.</param>
        /// <param name="client">The client of this process.</param>
        /// <returns>The report; <c>null</c> if the trigger was no raw notification.</returns>
        public static Task<WakeReport> RunAsync(IBackgroundTaskInstance instance, SecurePushClient client)
        {
            // At once: Windows expects it before Run returns.
            var deferral = instance.GetDeferral();
            var expiration = new CancellationTokenSource();
            BackgroundTaskCanceledEventHandler cancel = (sender, reason) => expiration.Cancel();
            instance.Canceled += cancel;
            return Detached.RunAsync(() => HandleAsync(instance, client, expiration.Token, () =>
            {
                instance.Canceled -= cancel;
                deferral.Complete();
            }));
        }

        private static async Task<WakeReport> HandleAsync(
            IBackgroundTaskInstance instance, SecurePushClient client, CancellationToken expiration, Action end)
        {
            try
            {
                var raw = instance.TriggerDetails as RawNotification;
                return raw == null
                    ? null
                    : await client.HandleAsync(IncomingPush.FromRaw(raw.Content), expiration);
            }
            finally
            {
                end();
            }
        }
    }
}
