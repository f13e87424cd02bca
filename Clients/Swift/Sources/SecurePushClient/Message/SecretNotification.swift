public import Foundation

/// A notification with its secret.
public struct SecretNotification: Sendable, Equatable {
    /// The notification's ID.
    public var id: PushID
    /// The message; `nil` if the payload is none. Then the system shows the generic text, and the app reads ``json``.
    public var message: PushMessage?
    /// The payload's JSON text, exactly as the sender wrote it. What was end-to-end encrypted is open.
    public var json: String
    /// Whether it was end-to-end encrypted for this device.
    public var isEncrypted = false
    /// Whether one of the user's devices had fetched it before.
    public var wasRead: Bool
    /// How much of it may be handed to the system: the stricter `display` of sender and app.
    public var display = DisplayMode.full
    /// When it expires; `nil` if it does not.
    public var expiresAt: Date?

    /// The text to show; an empty one if the payload is no message.
    public var text: String { message?.body ?? "" }

    /// Makes a notification.
    public init(id: PushID, message: PushMessage?, json: String, wasRead: Bool = false) {
        self.id = id
        self.message = message
        self.json = json
        self.wasRead = wasRead
    }

    /// Makes a notification with a text alone.
    public init(id: PushID, text: String, json: String, wasRead: Bool = false) {
        self.init(id: id, message: PushMessage(body: text), json: json, wasRead: wasRead)
    }
}

/// How much of a notification is handed to the system, which stores what it shows and may mirror it to other devices.
public enum DisplayMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The whole message.
    case full
    /// The message, but only where the system hides it while the device is locked; elsewhere the generic text.
    case redacted
    /// The generic text. The app shows the message.
    case app
}

extension DisplayMode: Comparable {
    /// A stricter mode is greater.
    public static func < (left: DisplayMode, right: DisplayMode) -> Bool { left.strictness < right.strictness }

    private var strictness: Int {
        switch self {
        case .full: 0
        case .redacted: 1
        case .app: 2
        }
    }
}

extension SecretNotification: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The ID, without the text.
    public var description: String { "secret \(id)" }
    /// The same as ``description``, so that a debugger shows no secret.
    public var debugDescription: String { description }
    /// Only the ID, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
