using System;

namespace SecurePush
{
    /// <summary>
    /// What the client needs to know of the server and of the app. None of it is ever taken from a push.
    /// </summary>
    public sealed class SecurePushConfiguration
    {
        /// <summary>Makes a configuration.</summary>
        /// <param name="retrievalUrl">
        /// Where the retrieval service is, such as <c>https://push.example.com</c>. A path before <c>/api</c> is
        /// allowed.
        /// </param>
        /// <param name="allowsInsecure">
        /// Whether <c>http</c> is allowed for other hosts than this machine, such as in a test network. Secrets and
        /// credentials go there.
        /// </param>
        /// <exception cref="ArgumentException">
        /// The address is not <c>https</c>, or has a query or credentials.
        /// </exception>
        public SecurePushConfiguration(Uri retrievalUrl, bool allowsInsecure = false)
        {
            RetrievalUrl = Checked(retrievalUrl, allowsInsecure);
            AllowsInsecure = allowsInsecure;
        }

        /// <summary>Whether <c>http</c> is allowed for other hosts than this machine.</summary>
        public bool AllowsInsecure { get; }

        /// <summary>Where the retrieval service is.</summary>
        public Uri RetrievalUrl { get; }

        /// <summary>
        /// The keys that sign pushes. With keys, a push without a valid signature is ignored. <c>null</c>: pushes are
        /// not signed. They hold until the client has read the server's keys, which then replace them
        /// (<see cref="RefreshesPushKeys"/>).
        /// </summary>
        public PublicKeySet PushKeys { get; set; }

        /// <summary>
        /// Whether the client reads <c>GET /api/push-keys</c>, so that the server can rotate its keys: when it
        /// registers, and at the end of a wake if the last time was more than
        /// <see cref="ClientLimits.RefreshesPushKeysAfter"/> ago. Only with <see cref="PushKeys"/>.
        /// </summary>
        public bool RefreshesPushKeys { get; set; } = true;

        /// <summary>
        /// Whether <see cref="SecurePushClient.RegisterAsync"/> gives the server a public key of this installation, so
        /// that senders can encrypt for it. Encrypted payloads are opened in any case.
        /// </summary>
        public bool EncryptsEndToEnd { get; set; }

        /// <summary>
        /// The keys of the senders of encrypted payloads. With keys, one that none of them has signed is not shown
        /// (<c>SP-SENDER</c>). <c>null</c>: signatures are not checked.
        /// </summary>
        public PublicKeySet SenderKeys { get; set; }

        /// <summary>Whether a payload that is not encrypted is not shown (<c>SP-PLAIN</c>).</summary>
        public bool RequiresEncryption { get; set; }

        /// <summary>
        /// How much Windows may show. The stricter one of this and the sender's applies.
        /// </summary>
        public MessageDisplay Display { get; set; }

        /// <summary>The keys of the texts in the app's resources.</summary>
        public ClientTexts Texts { get; set; } = new ClientTexts();

        /// <summary>Times and sizes.</summary>
        public ClientLimits Limits { get; set; } = new ClientLimits();

        /// <summary>
        /// Whether the generic text is shown for a push whose notification the server does not give to this user (403,
        /// 404, 410), for example because it was revoked.
        /// </summary>
        public bool ShowsNoticeWhenGone { get; set; } = true;

        internal static Uri Checked(Uri url, bool allowsInsecure)
        {
            if (url == null || !url.IsAbsoluteUri || (url.Scheme != "https" && url.Scheme != "http")
                || url.UserInfo != "" || url.Query != "" || url.Fragment != "")
            {
                throw new ArgumentException("The address of the retrieval service cannot be used.");
            }

            if (url.Scheme == "http" && !url.IsLoopback && !allowsInsecure)
            {
                throw new ArgumentException("The address of the retrieval service must be https.");
            }

            return url;
        }
    }

    /// <summary>Who shows a message, from the least strict to the strictest.</summary>
    public enum MessageDisplay
    {
        /// <summary>The system shows it, also on the lock screen if the user allows that.</summary>
        Full,

        /// <summary>
        /// The system shows it while the device is unlocked. Windows cannot do that, so it is like <see cref="App"/>.
        /// </summary>
        Redacted,

        /// <summary>The system shows a text that says nothing, and the app shows the message.</summary>
        App,
    }

    /// <summary>
    /// The keys of the texts that the app shows in place of a secret. The app translates them in its resources.
    /// </summary>
    public sealed class ClientTexts
    {
        /// <summary>The generic text, such as "You have a new message. Open the app to read it."</summary>
        public string Generic { get; set; } = "securepush.generic";

        /// <summary>
        /// The text for a message that only the app shows, such as "You have a new message. Open the app to read it."
        /// Unlike <see cref="Generic"/> it has no code.
        /// </summary>
        public string InApp { get; set; } = "securepush.in-app";

        /// <summary>The prompt, such as "You have a new message. Log in to read it."</summary>
        public string LogIn { get; set; } = "securepush.log-in";

        /// <summary>The notice while nothing can be read, such as "You may have new messages."</summary>
        public string Locked { get; set; } = "securepush.locked";
    }

    /// <summary>
    /// Times and sizes that bound the work of one wake. The defaults fit the 30 s of a background task.
    /// </summary>
    public sealed class ClientLimits
    {
        /// <summary>The longest time for one try, in seconds.</summary>
        public double SecondsPerTry { get; set; } = 8;

        /// <summary>The longest time for all the work of one wake, in seconds.</summary>
        public double SecondsInTotal { get; set; } = 25;

        /// <summary>
        /// The longest answer to a fetch, in bytes. A payload has at most 256 KiB; its JSON form can be six times as
        /// long.
        /// </summary>
        public int MaxAnswerBytes { get; set; } = 2 << 20;

        /// <summary>How many missed notifications one wake shows. The next wake goes on.</summary>
        public int MaxShownPerWake { get; set; } = 100;

        /// <summary>How many IDs the client remembers.</summary>
        public int MaxRememberedIds { get; set; } = 1000;

        /// <summary>The oldest signature of a push, in seconds.</summary>
        public double MaxPushAge { get; set; } = 28 * 86400;

        /// <summary>
        /// How long another process (the app or its background task) may take to show what it has fetched, in seconds.
        /// After that the client takes it for dead.
        /// </summary>
        public double ClaimSeconds { get; set; } = 10;

        /// <summary>
        /// When a registration is renewed although nothing has changed, in seconds. A channel of Windows lives for 30
        /// days, and the server forgets devices that it has not seen for long (<c>DEVICE_STALE_AFTER</c>).
        /// </summary>
        public double RenewsRegistrationAfter { get; set; } = 7 * 86400;

        /// <summary>The age at which a wake reads the server's keys for pushes again, in seconds.</summary>
        public double RefreshesPushKeysAfter { get; set; } = 3600;

        /// <summary>The most notifications with payloads that are asked for at once.</summary>
        public int MaxSecretsPerPage { get; set; } = 20;
    }
}
