using System;
using System.Linq;
using System.Threading.Tasks;
using Windows.ApplicationModel.Background;

namespace SecurePush.Uwp
{
    /// <summary>Registers the background task that raw notifications start.</summary>
    public static class PushTaskRegistration
    {
        /// <summary>The name of the registration.</summary>
        public const string TaskName = "SecurePush";

        /// <summary>
        /// Asks for the permission to run in the background, and registers the task, once. Call it at each start of the
        /// app.
        /// </summary>
        /// <param name="entryPoint">
        /// The class that runs, as in <c>Package.appxmanifest</c>, such as <c>PushTask.RawPush</c>; <c>null</c> if the
        /// app itself runs (<c>OnBackgroundActivated</c>).
        /// </param>
        /// <returns>
        /// Whether raw notifications start the task. If not, the user has forbidden it in the settings, or Windows has
        /// not answered within 5 s. Pushes arrive only while the app runs then.
        /// </returns>
        public static async Task<bool> EnsureAsync(string entryPoint)
        {
            BackgroundAccessStatus status;
            try
            {
                status = await new CallLimit(new SystemClientClock()).RunAsync(
                    () => BackgroundExecutionManager.RequestAccessAsync().AsTask()).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                return false;
            }

            if (status == BackgroundAccessStatus.DeniedByUser || status == BackgroundAccessStatus.DeniedBySystemPolicy
                || status == BackgroundAccessStatus.Unspecified)
            {
                return false;
            }

            if (BackgroundTaskRegistration.AllTasks.Values.Any(task => task.Name == TaskName))
            {
                return true;
            }

            // Without it, the task has no network in connected standby.
            var builder = new BackgroundTaskBuilder { Name = TaskName, IsNetworkRequested = true };
            if (entryPoint != null)
            {
                builder.TaskEntryPoint = entryPoint;
            }

            builder.SetTrigger(new PushNotificationTrigger());
            builder.Register();
            return true;
        }
    }
}
