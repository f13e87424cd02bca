import Foundation

/// What the platforms' push services would object to, as warnings: the hub itself takes the notification all the same.
enum PlatformRules {
    private static let reservedDataKeys: Set<String> = ["from", "message_type"]
    /// APNs' limit for a payload, in bytes ("Sending notification requests to APNs"): 4 KB, and 5 KB for VoIP.
    static let maxAppleBytes = 4096
    static let maxVoIPBytes = 5120

    static func maxAppleBytes(pushType: String?) -> Int {
        pushType?.lowercased() == "voip" ? maxVoIPBytes : maxAppleBytes
    }

    private static let reservedDataPrefixes = ["gcm", "google"]

    /// - Parameter headers: the request's headers with names in lower case.
    static func warnings(format: NotificationFormat, headers: [String: String], body: [UInt8]) -> [String] {
        var warnings: [String] = []
        let limit =
            format == .apple
            ? maxAppleBytes(pushType: headers["apns-push-type"] ?? headers["x-apns-push-type"]) : sizeLimit(format)
        if let limit, body.count > limit {
            warnings.append("The body is larger than the \(limit) bytes that the push service takes.")
        }
        switch format {
        case .apple: warnings += appleWarnings(headers, body)
        case .fcmv1, .gcm: warnings += firebaseWarnings(format, body)
        case .windows: warnings += WindowsRules.warnings(headers, body)
        case .windowsphone: warnings += WindowsRules.phoneWarnings(headers)
        default: break
        }
        return warnings
    }

    private static func sizeLimit(_ format: NotificationFormat) -> Int? {
        switch format {
        case .apple: maxAppleBytes
        case .fcmv1, .gcm, .browser: 4096
        case .windows: 5000
        case .windowsphone: 3072
        case .adm: 6144
        case .baidu, .xiaomi: 4096
        case .template: nil
        }
    }

    private static func appleWarnings(_ headers: [String: String], _ body: [UInt8]) -> [String] {
        guard let payload = object(body) else { return ["The body is no JSON object."] }
        guard let aps = payload["aps"] as? [String: Any] else { return ["The body has no aps object."] }
        let isSilent = aps["content-available"] as? Int == 1 && aps["alert"] == nil
        guard isSilent else { return [] }
        var warnings: [String] = []
        if (headers["apns-priority"] ?? headers["x-apns-priority"]) != "5" {
            warnings.append("A silent push needs apns-priority 5; without it APNs takes 10 and refuses the push.")
        }
        if (headers["apns-push-type"] ?? headers["x-apns-push-type"] ?? "background") != "background" {
            warnings.append("A silent push needs apns-push-type background.")
        }
        if aps["sound"] != nil || aps["badge"] != nil {
            warnings.append("A silent push holds neither sound nor badge.")
        }
        return warnings
    }

    private static func firebaseWarnings(_ format: NotificationFormat, _ body: [UInt8]) -> [String] {
        guard let payload = object(body) else { return ["The body is no JSON object."] }
        var root = payload
        var warnings: [String] = []
        if format == .fcmv1 {
            guard let message = payload["message"] as? [String: Any] else { return ["The body has no message object."] }
            root = message
            if !Set(message.keys).isDisjoint(with: ["token", "topic", "condition"]) {
                warnings.append("The hub sets the target: token, topic and condition do not belong into the message.")
            }
        }
        let data = root["data"] as? [String: Any] ?? [:]
        for key in data.keys.sorted()
        where reservedDataKeys.contains(key) || reservedDataPrefixes.contains(where: key.hasPrefix) {
            warnings.append("The data key \(key) is reserved.")
        }
        if data.values.contains(where: { !($0 is String) }) { warnings.append("All values of data must be strings.") }
        return warnings
    }

    private static func object(_ body: [UInt8]) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
    }
}
