using System;
using System.IO;

namespace SecurePush.WindowsApp
{
    /// <summary>The parts of an app with the Windows App SDK: WinUI 3, WPF, Windows Forms.</summary>
    public sealed class WindowsAppPush
    {
        /// <summary>Makes the parts.</summary>
        /// <param name="configuration">The server and the app.</param>
        /// <param name="options">The app's own choices.</param>
        public WindowsAppPush(SecurePushConfiguration configuration, WindowsAppOptions options)
        {
            var store = options.Store ?? new FileClientStore(options.Folder, new DpapiProtector());
            Transport = options.Transport ?? new HttpClientTransport();
            var tokens = options.Credentials == null
                ? new TokenCredentialsProvider(
                    configuration.RetrievalUrl, store, Transport, allowsInsecure: configuration.AllowsInsecure)
                : null;
            TokenCredentials = tokens;
            Client = new SecurePushClient(
                configuration, options.Credentials ?? tokens, store, Transport,
                options.Presenter ?? new AppNotificationPresenter(options.Localize, options.Lifetime), null,
                options.Cryptography);
            Channel = new AppPushChannel(Client, options.RemoteId);
        }

        /// <summary>The client.</summary>
        public SecurePushClient Client { get; }

        /// <summary>The log-in; <c>null</c> if the app has a provider of its own.</summary>
        public TokenCredentialsProvider TokenCredentials { get; }

        /// <summary>The app's channel.</summary>
        public AppPushChannel Channel { get; }

        /// <summary>The connections.</summary>
        public ITransport Transport { get; }
    }

    /// <summary>What an app decides for <see cref="WindowsAppPush"/>. Only the first three are necessary.</summary>
    public sealed class WindowsAppOptions
    {
        /// <summary>Makes options.</summary>
        /// <param name="appName">
        /// The name of the folder below the user's local application data, where the app keeps its state.
        /// </param>
        /// <param name="remoteId">As in <see cref="AppPushChannel"/>.</param>
        /// <param name="localize">As in <see cref="AppNotificationPresenter"/>.</param>
        public WindowsAppOptions(string appName, Guid remoteId, Func<string, string> localize)
        {
            if (string.IsNullOrEmpty(appName) || appName.IndexOfAny(Path.GetInvalidFileNameChars()) >= 0
                || appName.Trim('.', ' ') != appName)
            {
                throw new ArgumentException("The name cannot be the one of a folder.", nameof(appName));
            }

            Folder = Path.Combine(
                Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData), appName, "SecurePush");
            RemoteId = remoteId;
            Localize = localize;
        }

        /// <summary>Where the state is. It does not roam.</summary>
        public string Folder { get; set; }

        /// <summary>As in <see cref="AppPushChannel"/>.</summary>
        public Guid RemoteId { get; }

        /// <summary>As in <see cref="AppNotificationPresenter"/>.</summary>
        public Func<string, string> Localize { get; }

        /// <summary>As in <see cref="AppNotificationPresenter"/>.</summary>
        public TimeSpan? Lifetime { get; set; }

        /// <summary>A session of the app's own.</summary>
        public ICredentialsProvider Credentials { get; set; }

        /// <summary>A store of the app's own.</summary>
        public IClientStore Store { get; set; }

        /// <summary>A transport of the app's own, such as one with pinned certificates.</summary>
        public ITransport Transport { get; set; }

        /// <summary>A presenter of the app's own.</summary>
        public INotificationPresenter Presenter { get; set; }

        /// <summary>A library of the app's own in place of <see cref="PlatformCryptography"/>.</summary>
        public IClientCryptography Cryptography { get; set; }
    }
}
