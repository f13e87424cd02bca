using System;
using System.IO;
using Windows.Storage;

namespace SecurePush.Uwp
{
    /// <summary>
    /// The client of one process with the parts for Windows. The app and its background task are two processes, and
    /// each makes its own. They share the folder of the app, so a secret is shown once whoever fetches it.
    /// </summary>
    public sealed class WindowsSecurePush
    {
        /// <summary>Makes the parts.</summary>
        /// <param name="configuration">The server and the app.</param>
        public WindowsSecurePush(SecurePushConfiguration configuration)
        {
            var folder = Path.Combine(ApplicationData.Current.LocalFolder.Path, "SecurePush");
            // No backup has the cache.
            var cache = Path.Combine(ApplicationData.Current.LocalCacheFolder.Path, "SecurePush");
            var store = new FileClientStore(folder, new DataProtectionProtector(), cache);
            Transport = new HttpClientTransport();
            Credentials = new TokenCredentialsProvider(
                configuration.RetrievalUrl, store, Transport, allowsInsecure: configuration.AllowsInsecure);
            Client = new SecurePushClient(configuration, Credentials, store, Transport, new ToastPresenter());
            Channel = new PushChannel(Client);
        }

        /// <summary>The client.</summary>
        public SecurePushClient Client { get; }

        /// <summary>The log-in.</summary>
        public TokenCredentialsProvider Credentials { get; }

        /// <summary>The app's channel. The background task needs none.</summary>
        public PushChannel Channel { get; }

        /// <summary>The connections.</summary>
        public HttpClientTransport Transport { get; }
    }
}
