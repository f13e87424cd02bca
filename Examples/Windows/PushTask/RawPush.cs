using SecurePush.Uwp;
using SecurePushExample;
using Windows.ApplicationModel.Background;

namespace PushTask
{
    /// <summary>Windows starts this task for each raw notification, also when the app does not run.</summary>
    public sealed class RawPush : IBackgroundTask
    {
        private static readonly WindowsSecurePush Push = Deployment.MakeClient();

        /// <summary>Fetches the secret and shows it. The client takes at most 25 of the 30 seconds.</summary>
        public async void Run(IBackgroundTaskInstance taskInstance)
        {
            await RawPushTask.RunAsync(taskInstance, Push.Client);
        }
    }
}
