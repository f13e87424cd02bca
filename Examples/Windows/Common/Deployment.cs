using System;
using System.Text;
using SecurePush;
using SecurePush.Uwp;

namespace SecurePushExample
{
    /// <summary>Your deployment. Nothing of it comes from a push.</summary>
    internal static class Deployment
    {
        /// <summary>The service that devices call.</summary>
        private static readonly Uri RetrievalUrl = new Uri("https://retrieval.example.com");

        /// <summary>The service that takes "Send push".</summary>
        public static readonly Uri IngestUrl = new Uri("https://ingest.example.com");

        /// <summary>
        /// The content of the public key file of <c>securepush keys generate --push</c>; <c>null</c> if pushes are not
        /// signed.
        /// </summary>
        private static readonly string PushKeys = null;

        /// <summary>
        /// Makes the client of this process. The app and the background task are two processes, and each has its own.
        /// </summary>
        public static WindowsSecurePush MakeClient() => new WindowsSecurePush(
            new SecurePushConfiguration(RetrievalUrl)
            {
                PushKeys = PushKeys == null ? null : PublicKeySet.FromJwkSet(Encoding.UTF8.GetBytes(PushKeys)),
                EncryptsEndToEnd = true,
            });
    }
}
