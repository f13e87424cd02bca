/// Shows nothing. A client without a presenter uses it on systems without a notification centre.
///
/// It does not know the notifications on the screen. A secret that it receives counts as shown.
struct SilentPresenter: NotificationPresenter {
    func show(_ secret: SecretNotification) async throws {}

    func show(_ notice: GenericNotice) async throws {}

    func show(_ prompt: LogInPrompt) async throws {}

    func remove(_ ids: [PushID]) async {}

    func removePrompt() async {}

    func setBadge(_ count: Int) async {}

    func displayedSecrets() async -> Set<PushID>? { nil }
}

/// The presenter of a client to which the app gives none.
enum DefaultPresenter {
    /// ``UserNotificationPresenter`` on Apple's systems, ``SilentPresenter`` elsewhere.
    static func make() -> any NotificationPresenter {
        #if canImport(UserNotifications)
        UserNotificationPresenter()
        #else
        SilentPresenter()
        #endif
    }
}
