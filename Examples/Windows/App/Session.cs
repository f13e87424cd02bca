using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using SecurePush;
using SecurePush.Uwp;
using Windows.ApplicationModel.Resources;

namespace SecurePushExample
{
    /// <summary>The user's session and the device, for the pages of the app.</summary>
    internal sealed class Session
    {
        /// <summary>The class of the background task, as in Package.appxmanifest.</summary>
        private const string EntryPoint = "PushTask.RawPush";

        private const int MaxMessages = 100;

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
            await AttemptAsync(
                async () =>
                {
                    await push.Credentials.LogInAsync(userName, password);
                    IsLoggedIn = true;
                },
                error => error.Code.Equals(DiagnosticCode.Status(401)) ? "StatusPassword" : "StatusFailed");
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
        public Task SendPushAsync() => AttemptAsync(
            async () =>
            {
                await new ConfirmationSender(push).SendAsync();
                Show("StatusSent");
            },
            error => "StatusNotSent");

        /// <summary>The newest messages, with what they say. They count as read.</summary>
        public async Task<IReadOnlyList<InboxEntry>> MessagesAsync()
        {
            var entries = new List<InboxEntry>();
            await AttemptAsync(async () =>
            {
                var page = await push.Client.InboxWithSecretsAsync();
                entries.AddRange(page.Entries);
                while (page.HasNext && entries.Count < MaxMessages)
                {
                    page = await push.Client.InboxWithSecretsAsync(entries[entries.Count - 1].Id);
                    entries.AddRange(page.Entries);
                }
            });
            entries.Reverse();
            return entries;
        }

        /// <summary>One message; <c>null</c> if it cannot be had.</summary>
        public async Task<SecretNotification> ReadAsync(PushId id)
        {
            SecretNotification secret = null;
            await AttemptAsync(async () => secret = await push.Client.ReadAsync(id));
            return secret;
        }

        /// <summary>Answers, and tells whether the server has taken it. The status says why not.</summary>
        public async Task<bool> AnswerAsync(PushId id, string action, string text, string challenge)
        {
            var isTaken = false;
            await AttemptAsync(async () =>
            {
                try
                {
                    await push.Client.AnswerAsync(id, action, text, challenge);
                    isTaken = true;
                    Show("StatusAnswered");
                }
                catch (ArgumentException)
                {
                    Show("StatusFailed");
                }
            });
            return isTaken;
        }

        /// <summary>The user's devices; <c>null</c> if they cannot be had.</summary>
        public async Task<IReadOnlyList<UserDevice>> DevicesAsync()
        {
            IReadOnlyList<UserDevice> devices = null;
            await AttemptAsync(async () => devices = await push.Client.DevicesAsync());
            return devices;
        }

        /// <summary>What a sender compares; empty if this device has no key.</summary>
        public async Task<string> FingerprintAsync()
        {
            string fingerprint = null;
            await AttemptAsync(async () => fingerprint = await push.Client.EncryptionKeyFingerprintAsync());
            return fingerprint ?? "";
        }

        public Task RemoveDeviceAsync(string id) => AttemptAsync(() => push.Client.RemoveDeviceAsync(id));

        public Task SignOutEverywhereAsync() => AttemptAsync(async () =>
        {
            await push.Client.SignOutEverywhereAsync();
            IsLoggedIn = false;
            Show("StatusLoggedOut");
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
                var runsInBackground = await PushTaskRegistration.EnsureAsync(EntryPoint);
                await push.Channel.RegisterAsync();
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

        /// <param name="work">What may fail.</param>
        /// <param name="failing">The text for a failure, if it is not <see cref="TextOf"/>.</param>
        private async Task AttemptAsync(Func<Task> work, Func<SecurePushException, string> failing = null)
        {
            try
            {
                await work();
            }
            catch (SecurePushException error)
            {
                Show((failing ?? TextOf)(error), error.Code);
            }
            catch (ClientStoreException)
            {
                Show("StatusFailed", DiagnosticCode.Credentials);
            }
        }

        private static string TextOf(SecurePushException error)
        {
            // The device is registered. Only its key is missing at the server.
            if (error.InstallationId != null)
            {
                return "StatusNoKey";
            }

            switch (error.Code.ToString())
            {
                case "SP-KEY":
                    return "StatusNotForThisDevice";
                case "SP-DECRYPT":
                    return "StatusNotDecrypted";
                case "SP-REPLAY":
                case "SP-SENDER":
                case "SP-PLAIN":
                    return "StatusNotTrusted";
                case "SP-EXPIRED":
                case "SP-403":
                case "SP-404":
                case "SP-410":
                    return "StatusGone";
                default:
                    return "StatusFailed";
            }
        }
    }
}
