/// Shows notifications to the user. ``UserNotificationPresenter`` is the one for Apple's systems; a tool writes lines.
///
/// Everything is shown under an identifier, and replaces what was shown under the same one: ``SecretNotification`` and
/// ``GenericNotice`` use the notification's ID, the prompt and the notices without an ID use one identifier each.
public protocol NotificationPresenter: Sendable {
    /// Shows a secret. It replaces the generic text of the same ID.
    ///
    /// - Throws: if it was not shown. The client tries again at the next wake.
    func show(_ secret: SecretNotification) async throws

    /// Shows the generic text.
    func show(_ notice: GenericNotice) async throws

    /// Shows the prompt to log in. It replaces the last prompt.
    func show(_ prompt: LogInPrompt) async throws

    /// Removes the secrets and the generic texts of these IDs, and of no others. Unknown IDs change nothing.
    func remove(_ ids: [PushID]) async

    /// Removes the prompt to log in.
    func removePrompt() async

    /// Prepares a secret that a service extension is about to show, such as by registering its actions.
    func prepare(_ secret: SecretNotification) async

    /// Whether the system hides the texts of secrets while the device is locked. ``DisplayMode/redacted`` needs it.
    func hidesWhileLocked() async -> Bool

    /// Sets the number on the app's icon.
    func setBadge(_ count: Int) async

    /// The IDs whose secrets (not generic texts) the user can see now; `nil` if the system cannot tell. The client asks
    /// after a crash, because it does not know then whether it has shown a secret.
    func displayedSecrets() async -> Set<PushID>?
}

extension NotificationPresenter {
    /// Nothing to prepare.
    public func prepare(_ secret: SecretNotification) async {}

    /// A system that is not known hides nothing.
    public func hidesWhileLocked() async -> Bool { false }
}

/// The text that is shown in place of a secret that cannot be had now.
public struct GenericNotice: Sendable, Hashable {
    /// The notification's ID; `nil` when the push had none that can be used.
    public var id: PushID?
    /// The key of the text in the app's `Localizable.strings`.
    public var localizationKey: String
    /// The reason; `nil` if nothing is wrong: the message is for the app alone.
    public var code: DiagnosticCode?

    /// Makes a notice.
    public init(id: PushID?, localizationKey: String, code: DiagnosticCode?) {
        self.id = id
        self.localizationKey = localizationKey
        self.code = code
    }
}

/// The text that asks the user to log in.
public struct LogInPrompt: Sendable, Hashable {
    /// The notifications that wait for the log-in, oldest first.
    public var ids: [PushID]
    /// The key of the text in the app's `Localizable.strings`.
    public var localizationKey: String
    /// ``DiagnosticCode/loggedOut`` or 401.
    public var code: DiagnosticCode

    /// Makes a prompt.
    public init(ids: [PushID], localizationKey: String, code: DiagnosticCode) {
        self.ids = ids
        self.localizationKey = localizationKey
        self.code = code
    }
}
