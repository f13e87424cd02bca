#if canImport(UserNotifications)
import CryptoKit
import Foundation
public import UserNotifications

/// Shows notifications by the system's notification centre.
///
/// Every text of the app comes from its `Localizable.strings`, by the keys of ``ClientTexts``. The notification's
/// `userInfo` has the ID (`secureId`) and whether it shows the secret.
public struct UserNotificationPresenter: Sendable {
    private let setCount: @Sendable (Int) async -> Void

    /// Makes a presenter.
    ///
    /// - Parameter setBadge: sets the number on the icon, before iOS 16 and macOS 13 by
    ///   `UIApplication.shared.applicationIconBadgeNumber`. Later systems do it without.
    public init(setBadge: @escaping @Sendable (Int) async -> Void = { _ in }) {
        setCount = setBadge
    }
}

extension UserNotificationPresenter {
    /// The category of the SDK's notifications, unless a message has one of its own or actions. It has no actions.
    public static let categoryIdentifier = "secure-push"

    /// Registers the category, beside those of the app. Call it at each start of the app.
    ///
    /// With the category, a locked device that hides previews (the default of devices with Face ID) shows the app's own
    /// text in place of the secret. Without it, the system shows "Notification".
    ///
    /// - Parameter texts: those of ``SecurePushConfiguration``.
    public static func registerCategory(texts: ClientTexts = ClientTexts()) async {
        let placeholder = NSString.localizedUserNotificationString(forKey: texts.hidden, arguments: nil)
        let category = UNNotificationCategory(
            identifier: categoryIdentifier, actions: [], intentIdentifiers: [],
            hiddenPreviewsBodyPlaceholder: placeholder, options: [])
        let center = UNUserNotificationCenter.current()
        let others = await center.notificationCategories().filter { $0.identifier != categoryIdentifier }
        center.setNotificationCategories(others.union([category]))
    }
}

extension UserNotificationPresenter: NotificationPresenter {
    /// Shows a secret as a notification of the system. It replaces the one with the same ID.
    ///
    /// - Throws: the error of `UNUserNotificationCenter`, if it takes no notification.
    public func show(_ secret: SecretNotification) async throws {
        await prepare(secret)
        try await add(secret.id.rawValue) { $0.show(secret) }
    }

    /// Shows a text without the secret. It replaces the notification with the same ID, or the last notice without one.
    ///
    /// - Throws: the error of `UNUserNotificationCenter`, if it takes no notification.
    public func show(_ notice: GenericNotice) async throws {
        try await add(notice.id?.rawValue ?? Self.noticeIdentifier) { $0.show(notice) }
    }

    /// Shows the prompt to log in. It replaces the last one.
    ///
    /// - Throws: the error of `UNUserNotificationCenter`, if it takes no notification.
    public func show(_ prompt: LogInPrompt) async throws {
        try await add(Self.promptIdentifier) { $0.show(prompt) }
    }

    /// Registers the actions of a message.
    public func prepare(_ secret: SecretNotification) async {
        guard let message = secret.message, let identifier = message.actionCategory else { return }
        let center = UNUserNotificationCenter.current()
        let known = await center.notificationCategories()
        guard !known.contains(where: { $0.identifier == identifier }) else { return }
        let placeholder =
            known.first { $0.identifier == Self.categoryIdentifier }?.hiddenPreviewsBodyPlaceholder ?? ""
        let category = UNNotificationCategory(
            identifier: identifier, actions: message.actions.map(\.systemAction), intentIdentifiers: [],
            hiddenPreviewsBodyPlaceholder: placeholder, options: [])
        // Those of messages that are gone would become more and more.
        let used = Set(await center.deliveredNotifications().map(\.request.content.categoryIdentifier))
        let kept = known.filter { !PushMessage.isActionCategory($0.identifier) || used.contains($0.identifier) }
        center.setNotificationCategories(kept.union([category]))
    }

    /// Whether the user's settings hide previews, always or while the device is locked.
    public func hidesWhileLocked() async -> Bool {
        await UNUserNotificationCenter.current().notificationSettings().showPreviewsSetting != .always
    }

    /// Removes the notifications of these IDs: our own, and those that the service extension has changed.
    public func remove(_ ids: [PushID]) async {
        let wanted = Set(ids.map(\.rawValue))
        let center = UNUserNotificationCenter.current()
        let delivered = await center.deliveredNotifications().map(\.request)
            .filter { $0.content.secureID.map(wanted.contains) ?? false }.map(\.identifier)
        center.removeDeliveredNotifications(withIdentifiers: delivered + wanted)
        center.removePendingNotificationRequests(withIdentifiers: Array(wanted))
    }

    /// Removes the prompt, and the notices without an ID.
    public func removePrompt() async {
        let center = UNUserNotificationCenter.current()
        let prompts = await center.deliveredNotifications().map(\.request)
            .filter { $0.content.userInfo[ContentKey.prompt] != nil }.map(\.identifier)
        center.removeDeliveredNotifications(
            withIdentifiers: prompts + [Self.promptIdentifier, Self.noticeIdentifier])
    }

    /// Sets the number on the app's icon; 0 removes it.
    public func setBadge(_ count: Int) async {
        if #available(iOS 16, macOS 13, *) {
            try? await UNUserNotificationCenter.current().setBadgeCount(count)
        } else {
            await setCount(count)
        }
    }

    /// The IDs of the secrets in the notification centre, without those that the user has opened or dismissed.
    public func displayedSecrets() async -> Set<PushID>? {
        let delivered = await UNUserNotificationCenter.current().deliveredNotifications()
        let shown = delivered.map(\.request.content).filter { $0.userInfo[ContentKey.secret] != nil }
        return Set(shown.compactMap { $0.secureID.flatMap { PushID($0) } })
    }

    /// A notification with the same identifier replaces the last one.
    private func add(_ identifier: String, _ fill: (UNMutableNotificationContent) -> Void) async throws {
        let content = UNMutableNotificationContent()
        content.sound = .default
        fill(content)
        try await UNUserNotificationCenter.current().add(
            UNNotificationRequest(identifier: identifier, content: content, trigger: nil))
    }

    private static let promptIdentifier = "secure-push-log-in"
    private static let noticeIdentifier = "secure-push-notice"
}

extension ServiceContent {
    /// Puts the content in place of an alert's. The service extension passes the result to its content handler.
    ///
    /// Nothing is empty content if the extension may suppress alerts
    /// (`com.apple.developer.usernotifications.filtering`). Without that entitlement iOS would show the text of the push
    /// with its sound, so the generic text comes silently.
    public func apply(to content: UNMutableNotificationContent) {
        content.title = ""
        content.subtitle = ""
        content.body = ""
        switch kind {
        case .secret(let secret): content.show(secret)
        case .generic(let notice): content.show(notice)
        case .prompt(let prompt): content.show(prompt)
        case .nothing:
            content.sound = nil
            if !AlertFiltering.isAllowed, let substitute {
                content.show(substitute)
                content.interruptionLevel = .passive
            }
        }
        if let badge { content.badge = NSNumber(value: badge) }
    }
}

/// The members of `userInfo`.
private enum ContentKey {
    static let id = "secureId"
    static let secret = "secure-push-secret"
    static let prompt = "secure-push-prompt"
    static let code = "secure-push-code"
}

extension UNNotificationContent {
    fileprivate var secureID: String? { userInfo[ContentKey.id] as? String }
}

extension UNMutableNotificationContent {
    fileprivate func show(_ secret: SecretNotification) {
        body = secret.text
        categoryIdentifier = UserNotificationPresenter.categoryIdentifier
        if let message = secret.message { show(message) }
        userInfo[ContentKey.id] = secret.id.rawValue
        userInfo[ContentKey.secret] = "1"
    }

    private func show(_ message: PushMessage) {
        title = message.title ?? ""
        if let thread = message.thread { threadIdentifier = thread }
        if let category = message.category {
            categoryIdentifier = category
        } else if let category = message.actionCategory {
            categoryIdentifier = category
        }
        switch message.level {
        case .passive:
            interruptionLevel = .passive
            sound = nil
        case .active: interruptionLevel = .active
        case .timeSensitive: interruptionLevel = .timeSensitive
        case nil: break
        }
    }

    fileprivate func show(_ notice: GenericNotice) {
        body = Self.text(notice.localizationKey, notice.code)
        userInfo[ContentKey.id] = notice.id?.rawValue
        userInfo[ContentKey.code] = notice.code?.rawValue
    }

    fileprivate func show(_ prompt: LogInPrompt) {
        body = Self.text(prompt.localizationKey, prompt.code)
        userInfo[ContentKey.prompt] = "1"
        userInfo[ContentKey.code] = prompt.code.rawValue
    }

    /// The text in the user's language, with the code where the translation has `%@`.
    private static func text(_ key: String, _ code: DiagnosticCode?) -> String {
        NSString.localizedUserNotificationString(forKey: key, arguments: code.map { [$0.rawValue] })
    }
}

extension PushMessage {
    private static let actionPrefix = "secure-push-actions-"

    static func isActionCategory(_ identifier: String) -> Bool { identifier.hasPrefix(actionPrefix) }

    /// The category of a message with actions and without a category: the same for the same actions.
    fileprivate var actionCategory: String? {
        guard category == nil, !actions.isEmpty else { return nil }
        let text = actions.map { "\($0.id)\n\($0.takesText)\n\($0.title)" }.joined(separator: "\n")
        let digest = SHA256.hash(data: Data(text.utf8)).prefix(8).map { String($0, radix: 16) }
        return Self.actionPrefix + digest.joined(separator: "-")
    }
}

extension PushMessage.Action {
    /// The button. A locked device asks for the unlock first: only the owner may answer.
    fileprivate var systemAction: UNNotificationAction {
        guard takesText else {
            return UNNotificationAction(identifier: id, title: title, options: [.authenticationRequired])
        }
        return UNTextInputNotificationAction(
            identifier: id, title: title, options: [.authenticationRequired], textInputButtonTitle: title,
            textInputPlaceholder: "")
    }
}
#endif
