using System;
using System.Threading.Tasks;
using SecurePush;
using SecurePush.Uwp;
using Windows.ApplicationModel.Resources;

namespace SecurePushExample
{
    /// <summary>The user's session and the device, for the one page of the app.</summary>
    internal sealed class Session
    {
        /// <summary>The class of the background task, as in Package.appxmanifest.</summary>
        private const string EntryPoint = "PushTask.RawPush";

        private readonly WindowsSecurePush push = Deployment.MakeClient();

        private Session()
        {
            push.Channel.Received += report => Follow(report);
        }

        /// <summary>Called after every change, on any thread.</summary>
        public event Action Changed;

        public static Session Shared { get; } = new Session();

        public bool IsLoggedIn { get; private set; }

        /// <summary>The line below the buttons.</summary>
        public string Status { get; private set; } = Text("StatusLoggedOut");

        /// <summary>Registers again if that is due, and shows what was missed.</summary>
        public async Task BecomeActiveAsync()
        {
            IsLoggedIn = await push.Credentials.UserNameAsync() != null;
            await RegisterAsync();
            Follow(await push.Client.CatchUpAsync());
        }

        /// <summary>Log in, register, and show what waited for the log-in.</summary>
        public async Task LogInAsync(string userName, string password)
        {
            await AttemptAsync(async () =>
            {
                await push.Credentials.LogInAsync(userName, password);
                IsLoggedIn = true;
            });
            if (IsLoggedIn)
            {
                await RegisterAsync();
                Follow(await push.Client.ResumeAfterLogInAsync());
            }
        }

        /// <summary>It works without a network, too: the server is told when there is one.</summary>
        public Task LogOutAsync() => AttemptAsync(async () =>
        {
            await push.Channel.LogOutAsync();
            IsLoggedIn = false;
            Show("StatusLoggedOut");
        });

        /// <summary>The tutorial's "Send push": the user sends "Secure confirmation." to all own devices.</summary>
        public Task SendPushAsync() => AttemptAsync(async () =>
        {
            await new ConfirmationSender(push).SendAsync();
            Show("StatusSent");
        });

        private static string Text(string key) => ResourceLoader.GetForViewIndependentUse().GetString(key);

        private async Task RegisterAsync()
        {
            if (!IsLoggedIn)
            {
                return;
            }

            await AttemptAsync(async () =>
            {
                await push.Channel.RegisterAsync();
                var runsInBackground = await PushTaskRegistration.EnsureAsync(EntryPoint);
                Show(runsInBackground ? "StatusRegistered" : "StatusForeground");
            });
        }

        /// <summary>
        /// The session has ended, so the user has to log in again. The user's name stays known, for signed pushes.
        /// </summary>
        private void Follow(WakeReport report)
        {
            if (report.Code != null && (report.Code.Equals(DiagnosticCode.LoggedOut)
                || report.Code.Equals(DiagnosticCode.Status(401))))
            {
                IsLoggedIn = false;
                Show("StatusLoggedOut");
            }
        }

        private void Show(string key, DiagnosticCode code = null)
        {
            Status = Text(key) + (code == null ? "" : " (" + code + ")");
            Changed?.Invoke();
        }

        private async Task AttemptAsync(Func<Task> work)
        {
            try
            {
                await work();
            }
            catch (SecurePushException error)
            {
                Show("StatusFailed", error.Code);
            }
            catch (ClientStoreException)
            {
                Show("StatusFailed", DiagnosticCode.Credentials);
            }
        }
    }
}
