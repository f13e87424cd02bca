import Domain
import Foundation
import Foundations
import Logging

/// The values that the operations work on, of the size that most notifications have.
enum Samples {
    static let logger: Logger = {
        var logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .warning
        return logger
    }()

    static let platforms: [Platform] = [.apple, .fcmv1, .windows]

    static let recipient = user("user123")

    static let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    static func user(_ name: String) -> UserName {
        guard let user = UserName(name) else { preconditionFailure("not a user's name") }
        return user
    }

    /// A JSON string of this length.
    static func payload(_ size: Int) -> [UInt8] {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        return [UInt8(ascii: "\"")] + (0..<size).map { letters[$0 &* 7919 % letters.count] } + [UInt8(ascii: "\"")]
    }

    static func notification() -> Domain.Notification {
        Domain.Notification(
            sender: "clinic", recipient: recipient, expiresAt: .now + .seconds(86_400), traceparent: traceparent)
    }

    /// As an append stores them.
    static func sealed(_ count: Int) -> [SealedNotification] {
        let bytes = payload(1050)
        return (0..<count).map { _ in
            SealedNotification(notification: notification(), payload: SealedPayload(keyID: "k2026", bytes: bytes))
        }
    }

    /// As a claim returns it.
    static func plan(_ id: NotificationID = NotificationID()) -> DispatchPlan {
        DispatchPlan(
            id: id, recipient: recipient, expiresAt: .now + .seconds(86_400), traceparent: traceparent)
    }

    /// Of a notification that three platforms have accepted.
    static func deliveries() -> [Delivery] {
        platforms.map { platform in
            Delivery(
                platform: platform, state: .sent, attempts: 1, hubMessageID: "3d2b0c7e-0f4b-4c43-a1c5-1d7f4e5a6b01",
                updatedAt: .now)
        }
    }

    static func sealer(_ folder: TemporaryFolder) throws -> PayloadSealer {
        try PayloadSealer(path: folder.file("payload-keys", PayloadKeyRing.newLine()), logger: logger)
    }
}
