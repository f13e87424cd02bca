import Foundation
import SecurePushClient
import UserNotifications

extension ServiceContent {
    /// The content that the user sees instead of the push's own text.
    ///
    /// - Parameter original: the content of the push. Its `userInfo` stays, so that a withdrawal finds the
    ///   notification by its `secureId`.
    func notification(for original: UNNotificationContent) -> UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.userInfo = original.userInfo
        content.badge = badge.map { NSNumber(value: $0) }
        switch kind {
        case .secret(let secret):
            content.title = original.title
            content.body = secret.text
            content.sound = .default
        case .generic(let notice):
            content.body = Self.text(notice.localizationKey, notice.code)
            content.sound = .default
        case .prompt(let prompt):
            content.body = Self.text(prompt.localizationKey, prompt.code)
            content.sound = .default
        case .nothing:
            // An alert cannot be suppressed without Apple's filtering entitlement; without text it makes no sound.
            content.userInfo = [:]
        }
        return content
    }

    /// The code helps support: it says why, and nothing of the secret.
    private static func text(_ key: String, _ code: DiagnosticCode) -> String {
        NSString.localizedUserNotificationString(forKey: key, arguments: nil) + " (\(code))"
    }
}
