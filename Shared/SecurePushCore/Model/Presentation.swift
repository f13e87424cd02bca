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

    /// The longest payload that APNs takes for an alert, in bytes ("Generating a remote notification").
    public static let maxApplePayloadBytes = 4096

    /// The length in bytes of the APNs payload that shows this text: the JSON of the text and all that is around it.
    public var applePayloadBytes: Int {
        let text = title == nil && body == nil ? AlertText.generic : self
        let frame = #"{"aps":{"alert":{},"mutable-content":1},"secureId":"01234567-89ab-7cde-8f01-23456789abcd"}"#
        var count = frame.utf8.count
        if let title = text.title { count += #""title":"#.utf8.count + JSONText.quoted(title).utf8.count }
        if let body = text.body { count += #""body":"#.utf8.count + JSONText.quoted(body).utf8.count }
        return text.title != nil && text.body != nil ? count + 1 : count
    }
}

/// The urgency towards Android devices (`android.priority`, FCM HTTP v1).
public enum Priority: String, Sendable, CaseIterable {
    case normal
    case high
}
