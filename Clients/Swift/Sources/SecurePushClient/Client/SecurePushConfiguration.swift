public import Foundation
public import SecurePushEnvelope

/// The settings of the client: the server, the texts and the limits. None of them is ever taken from a push.
public struct SecurePushConfiguration: Sendable {
    /// Where the retrieval service is, such as `https://push.example.com`. A path before `/api` is allowed.
    public var retrievalURL: URL
    /// The keys that sign pushes. With keys, a push without a valid signature is ignored. `nil`: pushes are not signed.
    ///
    /// They hold until the client has read the server's keys, which then replace them (``refreshesPushKeys``).
    public var pushKeys: PushKeySet?
    /// Whether the client reads `GET /api/push-keys`, so that the server can rotate its keys: when it registers, and at
    /// the end of a wake if the last time was more than ``ClientLimits/refreshesPushKeysAfter`` ago. Only with
    /// ``pushKeys``.
    public var refreshesPushKeys: Bool
    /// Whether senders can encrypt end to end for this device. ``SecurePushClient/register(_:)`` then makes a key,
    /// keeps it in the store, and registers its public half; every 30 days it makes a new one. Without it, the user sees
    /// the generic text for a notification that is encrypted.
    public var encryptsEndToEnd: Bool
    /// The keys of the senders that the user may believe, which the app contains. With keys, an envelope without a valid
    /// signature of one of them shows the generic text. `nil`: whoever knows the device's public key can encrypt for it.
    public var senderKeys: SenderKeys?
    /// Whether a notification that is not encrypted end to end shows the generic text. The server, and whoever controls
    /// it, could have written it.
    public var requiresEncryption: Bool
    /// How much of a message is handed to the system. A stricter `Display` of the sender wins.
    public var display: DisplayMode
    /// The localisation keys of the texts.
    public var texts: ClientTexts
    /// Times and sizes.
    public var limits: ClientLimits
    /// Whether the generic text is shown for a silent push whose notification the server does not give to this user
    /// (403, 404, 410), for example because it was revoked.
    public var showsNoticeWhenGone: Bool

    /// Makes a configuration.
    public init(
        retrievalURL: URL, pushKeys: PushKeySet? = nil, refreshesPushKeys: Bool = true,
        encryptsEndToEnd: Bool = false, senderKeys: SenderKeys? = nil, requiresEncryption: Bool = false,
        display: DisplayMode = .full, texts: ClientTexts = ClientTexts(), limits: ClientLimits = ClientLimits(),
        showsNoticeWhenGone: Bool = true
    ) {
        self.retrievalURL = retrievalURL
        self.pushKeys = pushKeys
        self.refreshesPushKeys = refreshesPushKeys
        self.encryptsEndToEnd = encryptsEndToEnd
        self.senderKeys = senderKeys
        self.requiresEncryption = requiresEncryption
        self.display = display
        self.texts = texts
        self.limits = limits
        self.showsNoticeWhenGone = showsNoticeWhenGone
    }
}

/// The localisation keys of the texts that the app shows in place of a secret. The app translates them.
public struct ClientTexts: Sendable, Hashable {
    /// The generic text, such as "You have a new message. Open the app to read it."
    public var generic: String
    /// The text for a message that only the app shows, such as "You have a new message. Open the app to read it." Unlike
    /// ``generic`` it has no code.
    public var inApp: String
    /// The prompt, such as "You have a new message. Log in to read it."
    public var logIn: String
    /// The notice before the first unlock, such as "You may have new messages. Unlock your device to read them."
    public var locked: String
    /// The text on the lock screen while the system hides previews, such as "New message".
    public var hidden: String

    /// Makes a set of keys.
    public init(
        generic: String = "securepush.generic", inApp: String = "securepush.in-app",
        logIn: String = "securepush.log-in", locked: String = "securepush.locked", hidden: String = "securepush.hidden"
    ) {
        self.generic = generic
        self.inApp = inApp
        self.logIn = logIn
        self.locked = locked
        self.hidden = hidden
    }
}

/// Times and sizes that bound the work of a wake. The defaults fit the 30 s and 24 MB of a service extension.
public struct ClientLimits: Sendable, Hashable {
    /// The longest time for one try, in seconds.
    public var secondsPerTry: TimeInterval = 8
    /// The longest time for all the work of one wake, in seconds.
    public var secondsInTotal: TimeInterval = 25
    /// The longest time that a service extension spends on the inbox once it has the secret, in seconds.
    public var secondsForInbox: TimeInterval = 5
    /// The longest answer to a fetch, in bytes. A payload has at most 256 KiB; its JSON form can be six times as long.
    public var maxAnswerBytes = 2 << 20
    /// How many missed notifications one wake shows. The next wake goes on.
    public var maxShownPerWake = 100
    /// The maximum number of IDs that the client remembers. It shows each of them once.
    public var maxRememberedIDs = 1_000
    /// The oldest signature of a push, in seconds.
    public var maxPushAge: TimeInterval = 28 * 86_400
    /// The longest time between a claim of a secret and its display, in seconds. After it, the client takes the other
    /// process (the app or its extension) for dead. More than ``secondsForInbox``.
    public var claimSeconds: TimeInterval = 10
    /// The age at which a registration is renewed although nothing has changed, in seconds. The server removes devices
    /// that have not registered for long (`DEVICE_STALE_AFTER`, 270 days).
    public var renewsRegistrationAfter: TimeInterval = 7 * 86_400

    /// The age at which a wake reads the server's keys for pushes again, in seconds.
    public var refreshesPushKeysAfter: TimeInterval = 3_600

    /// The most notifications with payloads that are asked for at once. An answer has at most ``maxAnswerBytes``.
    public var maxSecretsPerPage = 20

    /// Makes the default limits.
    public init() {}
}
