/// Receives secrets: verifies pushes, fetches, shows each secret once, and keeps the device registered.
///
/// Everything that it uses is injected. Make one per process; the app and its service extension share the store.
public actor SecurePushClient {
    let configuration: SecurePushConfiguration
    let credentials: any CredentialsProvider
    let store: any ClientStore
    let transport: any Transport
    let clock: any ClientClock
    let presenter: any NotificationPresenter

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - configuration: the server and the app.
    ///   - credentials: the user's credentials.
    ///   - store: the memory between wakes.
    ///   - transport: sends the requests.
    ///   - clock: the time.
    ///   - presenter: shows the notifications.
    public init(
        configuration: SecurePushConfiguration, credentials: any CredentialsProvider, store: any ClientStore,
        transport: any Transport, clock: any ClientClock = SystemClientClock(), presenter: any NotificationPresenter
    ) {
        self.configuration = configuration
        self.credentials = credentials
        self.store = store
        self.transport = transport
        self.clock = clock
        self.presenter = presenter
    }

    /// Handles a silent push: fetches and shows the secret, and then the inbox after the last known notification. A
    /// withdrawal removes the notification from the screen.
    ///
    /// It never fails: if there is no secret, the user sees the generic text or the prompt, and the report says why.
    ///
    /// - Returns: after at most ``ClientLimits/secondsInTotal``.
    public func handle(push: IncomingPush) async -> WakeReport { WakeReport() }

    /// Fetches the inbox and everything that waits. Call it when the app starts and when it comes to the foreground.
    ///
    /// - Returns: after at most ``ClientLimits/secondsInTotal``.
    public func catchUp() async -> WakeReport { WakeReport() }

    /// Shows everything that waits for the log-in, and removes the prompt. Call it after the user has logged in.
    ///
    /// - Returns: after at most ``ClientLimits/secondsInTotal``.
    public func resumeAfterLogIn() async -> WakeReport { WakeReport() }

    /// The notifications that wait: those behind the prompt, and those that could not be fetched yet; oldest first.
    public func waiting() async -> [PushID] { [] }

    /// Registers the device for the user who is logged in, unless that is done: again when the channel, the tags or the
    /// user change, and when ``ClientLimits/renewsRegistrationAfter`` has passed. Call it at each start of the app.
    ///
    /// The installation's ID is kept. When the server has given it up (410), or it belongs to another user (404), the
    /// client makes a new one.
    ///
    /// - Returns: the installation's ID.
    /// - Throws: ``SecurePushFailure``.
    @discardableResult
    public func register(_ device: PushDevice) async throws -> String { "" }

    /// Removes the device from the server, and forgets the user's notifications. Call it before the log-out, while the
    /// credentials are valid.
    ///
    /// - Throws: ``SecurePushFailure`` if the server still has the device. Pushes for the user still come then.
    public func unregister() async throws {}

    /// Marks notifications as read without fetching them, removes them from the screen, and sets the badge.
    ///
    /// - Parameter ids: at most 1,000 are sent at once; unknown IDs change nothing.
    /// - Throws: ``SecurePushFailure``.
    public func markAsRead(_ ids: [PushID]) async throws {}

    /// Marks all notifications up to this one as read, and sets the badge.
    ///
    /// - Throws: ``SecurePushFailure``.
    public func markAsRead(through id: PushID) async throws {}
}
