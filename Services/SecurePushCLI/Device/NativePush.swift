import Foundations
import SecurePushClient

/// A push as the device's system hands it to the app.
struct NativePush: Sendable {
    /// The SDK's form.
    var push: IncomingPush
    /// `silent push`, `alert push`, `data message`, `raw notification` or `withdrawal`.
    var kind: String
    /// Whether the system starts the app's service extension, which replaces the text of the alert.
    var isForExtension = false

    static let withdrawal = "withdrawal"

    /// Reads the native body, in the way of the platform's system.
    init(platform: DevicePlatform, body: String) {
        switch platform {
        case .apple:
            let root = JSONValue(text: body)
            push = IncomingPush(userInfo: Self.values(root))
            isForExtension = root?["aps"]?["alert"] != nil
            kind = isForExtension ? "alert push" : "silent push"
        case .fcmv1:
            let root = JSONValue(text: body)
            let data = root?["message"]?["data"] ?? root?["data"]
            // Firebase takes no other values than strings.
            push = IncomingPush(data: Self.values(data).reduce(into: [:]) { $0["\($1.key)"] = $1.value as? String })
            kind = "data message"
        case .windows:
            push = IncomingPush(raw: body)
            kind = "raw notification"
        }
        if push.isWithdrawal { kind = Self.withdrawal }
    }

    /// The members of an object; values other than strings keep their form.
    private static func values(_ object: JSONValue?) -> [AnyHashable: Any] {
        var values: [AnyHashable: Any] = [:]
        for member in object?.members ?? [] {
            if let text = member.value.text { values[member.name] = text } else { values[member.name] = member.value }
        }
        return values
    }
}
