/// Where the client keeps its state between wakes. The app and its service extension share one.
///
/// ``FileClientStore`` keeps everything in files; `KeychainStore` keeps the credentials in Apple's Keychain and the
/// rest in files; ``MemoryClientStore`` forgets everything at the end of the process.
public protocol ClientStore: Sendable {
    /// Reads the state: an empty one if there is none, or if it was damaged.
    ///
    /// - Throws: ``ClientStoreError``.
    func read() async throws -> ClientState

    /// Changes the state. It is atomic: no other process sees half of it or changes it in between, and after a crash it
    /// has happened or not.
    ///
    /// - Parameter change: the change; it may run more than once, so it has no other effect.
    /// - Throws: ``ClientStoreError``; then nothing has changed.
    func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result

    /// Reads the credentials; `nil` if there are none.
    ///
    /// - Throws: ``ClientStoreError``.
    func credentials() async throws -> StoredCredentials?

    /// Replaces the credentials, if they are still the expected ones; `nil` means that there are none. It is atomic: no
    /// other process changes them in between. So a refresh that ends after a log-out does not bring the session back.
    ///
    /// - Returns: whether they were replaced.
    /// - Throws: ``ClientStoreError``; then nothing has changed.
    func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool

    /// Reads the device's keys for end-to-end encryption; an empty ring if there are none.
    ///
    /// - Throws: ``ClientStoreError``.
    func envelopeKeys() async throws -> EnvelopeKeyRing

    /// Replaces the device's keys for end-to-end encryption, if they are still the expected ones. It is atomic: so two
    /// processes do not make two keys. An empty ring removes all of them.
    ///
    /// - Returns: whether they were replaced.
    /// - Throws: ``ClientStoreError``; then nothing has changed.
    func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool

    /// Notes for good that an envelope was opened, unless it was opened before. It is atomic.
    ///
    /// A store keeps the last ``EnvelopeRecord/maxCount``, also when the user logs out: they hold no secret.
    ///
    /// - Returns: whether the envelope is new, or was opened under the same notification.
    /// - Throws: ``ClientStoreError``; then the content must not be shown.
    func remember(_ envelope: EnvelopeRecord) async throws -> Bool

    /// A text that is different on every device, and that no backup carries to another one; `nil` if the store has
    /// none.
    ///
    /// - Throws: ``ClientStoreError``.
    func deviceMark() async throws -> String?

    /// Claims the right to show the one notice of this boot that says that the device is locked. It works while
    /// ``read()`` throws ``ClientStoreError/locked``.
    ///
    /// - Returns: whether no earlier call since the device started has returned `true`.
    func claimLockedNotice() async -> Bool
}

extension ClientStore {
    /// A store of the app that its backups do not carry needs no mark.
    public func deviceMark() async throws -> String? { nil }

    /// Changes the device's keys for end-to-end encryption in one step.
    ///
    /// - Parameter change: it may run more than once.
    /// - Returns: the keys after it.
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/busy`` if others change them all the time.
    @discardableResult
    func changeEnvelopeKeys(
        _ change: @Sendable (inout EnvelopeKeyRing) -> Void
    ) async throws -> EnvelopeKeyRing {
        for _ in 0..<Self.maxTries {
            let before = try await envelopeKeys()
            var after = before
            change(&after)
            if after == before { return after }
            if try await replace(before, with: after) { return after }
        }
        throw ClientStoreError.busy
    }

    /// Changes the credentials in one step.
    ///
    /// - Parameter change: it may run more than once.
    /// - Returns: the credentials before and after.
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/busy`` if others change them all the time.
    @discardableResult
    func changeCredentials(
        _ change: @Sendable (StoredCredentials?) -> StoredCredentials?
    ) async throws -> (before: StoredCredentials?, after: StoredCredentials?) {
        for _ in 0..<Self.maxTries {
            let before = try await credentials()
            let after = change(before)
            if after == before { return (before, after) }
            if try await replace(before, with: after) { return (before, after) }
        }
        throw ClientStoreError.busy
    }

    private static var maxTries: Int { 100 }
}

/// Why a store cannot be used now.
public enum ClientStoreError: Error, Sendable, Equatable {
    /// The device was not unlocked since it started.
    case locked
    /// The store cannot be read.
    case unreadable
    /// The store cannot be written: it is full or read-only.
    case unwritable
    /// Another process holds the store for too long.
    case busy
}

/// The state of a client. Stores treat it as one value that can be coded.
public struct ClientState: Codable, Sendable, Equatable {
    /// The user whose notifications the state is about.
    var owner: UserName?
    /// How often the user has changed, or the device was unregistered.
    var userChanges = 0
    /// The notifications that the client knows.
    var ledger = SecretLedger()
    /// The newest notification that the client has seen in the inbox.
    var cursor: PushID?
    /// Whether the user was asked to log in.
    var isPrompted = false
    /// Withdrawn notifications that this device may have been the first to read. The server is asked whether they still
    /// exist.
    var unconfirmed: [PushID] = []
    /// What was shown and the server has not been told, oldest first.
    var unreported: [ShownReport] = []
    /// The device's registration.
    var registration = RegistrationRecord()
    /// The mark of the device on which the installation was registered.
    var deviceMark: String?
    /// The user for whom the device's key for end-to-end encryption was made.
    var keyOwner: UserName?
    /// Keys for pushes from `GET /api/push-keys`. They replace the configured ones.
    var pushKeys: PushKeySet?
    /// When ``pushKeys`` came, in seconds since 1970.
    var pushKeysReadAt: Double?
    /// When the server was last asked for ``pushKeys`` because of a push of an unknown key, in seconds since 1970.
    var pushKeysAskedAt: Double?
    /// The process that refreshes the credentials now.
    var refreshLease: RefreshLease?

    /// Makes an empty state.
    public init() {}
}

/// Credentials as they are stored. A store treats them as one value that can be coded.
public struct StoredCredentials: Codable, Sendable, Hashable {
    /// The user; empty if no user is logged in and a log-out is unfinished.
    public var userName: String {
        get { user.text }
        set { user = UserName(newValue) }
    }
    private var user: UserName
    /// The token for requests; `nil` if there is none, or if the server has refused it.
    public var accessToken: String?
    /// When the token expires; `nil` if that is not known.
    public var expiresAt: Double?
    /// The single-use token for the next access token.
    public var refreshToken: String?
    /// The password, only for a server that issues no tokens.
    public var password: String?
    /// The log-outs that are not over, oldest first.
    var departures: [Departure]?

    private enum CodingKeys: String, CodingKey {
        case user = "userName"
        case accessToken, expiresAt, refreshToken, password, departures
    }

    /// Makes credentials.
    ///
    /// - Parameter expiresAt: seconds since 1970.
    public init(
        userName: String, accessToken: String? = nil, expiresAt: Double? = nil, refreshToken: String? = nil,
        password: String? = nil
    ) {
        user = UserName(userName)
        self.accessToken = accessToken
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.password = password
    }
}

extension StoredCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, so that no log shows the credentials.
    public var description: String { "credentials of a user" }
    /// The same as ``description``, so that a debugger shows no credential.
    public var debugDescription: String { description }
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The exclusive right of one process to refresh the credentials. A refresh token that is used twice ends the session.
struct RefreshLease: Codable, Sendable, Equatable {
    var process: String
    /// ``ClientClock/uptime``: the time of day can jump.
    var takenAt: Double
    /// ``ClientClock/bootID``. A lease of an earlier start of the system has expired, and so has one without it.
    var boot: String?
}
