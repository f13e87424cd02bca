/// How the device is woken.
public enum Presentation: String, Sendable, CaseIterable {
    /// A silent push that lets the app fetch in the background: the tutorial's form.
    case silent
    /// A generic text that a notification service extension replaces by the payload.
    case alert
}

/// The generic text of an ``Presentation/alert``; never anything of the payload.
public struct AlertText: Sendable, Hashable {
    public var title: String?
    public var body: String?

    public init(title: String? = nil, body: String? = nil) {
        self.title = title
        self.body = body
    }

    /// What is shown where the sender gave no text.
    public static let generic = AlertText(title: "New message", body: "Open the app to read it.")
}

/// The urgency towards Android devices (`android.priority`, FCM HTTP v1).
public enum Priority: String, Sendable, CaseIterable {
    case normal
    case high
}
