import Foundations
import HTTPTypes

/// The rules of the platforms' push services. A breach is a warning, because the hub accepts the notification.
enum PlatformRules {
    /// APNs' limit for a payload, in bytes ("Sending notification requests to APNs"): 4 KB, and 5 KB for VoIP.
    static let maxAppleBytes = 4096
    private static let maxVoIPBytes = 5120
    private static let reservedDataKeys: Set<String> = ["from", "message_type"]
    private static let reservedDataPrefixes = ["gcm", "google"]

    static func maxAppleBytes(pushType: String?) -> Int {
        pushType?.lowercased() == "voip" ? maxVoIPBytes : maxAppleBytes
    }

    /// - Parameter headers: the request's headers with names in lower case.
    static func warnings(format: NotificationFormat, headers: [String: String], body: [UInt8]) -> [String] {
        var warnings: [String] = []
        let limit =
            format == .apple
            ? maxAppleBytes(pushType: headers["apns-push-type"] ?? headers["x-apns-push-type"]) : sizeLimit(format)
        if let limit, body.count > limit {
            warnings.append("The body is larger than the \(limit) bytes that the push service accepts.")
        }
        switch format {
        case .apple: warnings += appleWarnings(headers, body)
        case .fcmv1, .gcm: warnings += firebaseWarnings(format, body)
        case .windows: warnings += windowsWarnings(headers, body)
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
        guard let payload = object(body) else { return ["The body is not a JSON object."] }
        guard let aps = payload["aps"], aps.members != nil else { return ["The body has no aps object."] }
        let isSilent = aps["content-available"] == .number("1") && aps["alert"] == nil
        guard isSilent else { return [] }
        var warnings: [String] = []
        if (headers["apns-priority"] ?? headers["x-apns-priority"]) != "5" {
            warnings.append("A silent push needs apns-priority 5; without it APNs uses 10 and refuses the push.")
        }
        if (headers["apns-push-type"] ?? headers["x-apns-push-type"] ?? "background") != "background" {
            warnings.append("A silent push needs apns-push-type background.")
        }
        if aps["sound"] != nil || aps["badge"] != nil {
            warnings.append("A silent push must not have a sound or a badge.")
        }
        return warnings
    }

    private static func firebaseWarnings(_ format: NotificationFormat, _ body: [UInt8]) -> [String] {
        guard let payload = object(body) else { return ["The body is not a JSON object."] }
        var root = payload
        var warnings: [String] = []
        if format == .fcmv1 {
            guard let message = payload["message"], message.members != nil else {
                return ["The body has no message object."]
            }
            root = message
            if ["token", "topic", "condition"].contains(where: { message[$0] != nil }) {
                warnings.append("The hub sets the target: token, topic and condition must not be in the message.")
            }
        }
        let data = root["data"]?.members ?? []
        for key in data.map(\.name).sorted()
        where reservedDataKeys.contains(key) || reservedDataPrefixes.contains(where: key.hasPrefix) {
            warnings.append("The data key \(key) is reserved.")
        }
        if data.contains(where: { $0.value.text == nil }) { warnings.append("All values of data must be strings.") }
        return warnings
    }

    private static func object(_ body: [UInt8]) -> JSONValue? {
        let value = try? JSONValue(body)
        return value?.members == nil ? nil : value
    }
}

// MARK: Windows

extension PlatformRules {
    /// Checks the only rule that the hub enforces: a raw notification of WNS must be bytes.
    ///
    /// - Throws: 400 with the service's own sentence.
    static func checkRaw(_ format: NotificationFormat, _ headers: HTTPFields) throws(HubError) {
        guard format == .windows, headers[HubHeaders.windowsType]?.lowercased() == "wns/raw" else { return }
        let mediaType = (headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard mediaType == "application/octet-stream" else {
            throw HubError.rawOfAnotherType
        }
    }

    private static func windowsWarnings(_ headers: [String: String], _ body: [UInt8]) -> [String] {
        guard let type = headers["x-wns-type"]?.lowercased() else { return ["WNS needs X-WNS-Type."] }
        let contentType = headers["content-type"]?.lowercased() ?? ""
        guard type.hasPrefix("wns/"), ["raw", "toast", "tile", "badge"].contains(type.dropFirst(4)) else {
            return ["X-WNS-Type must be wns/toast, wns/tile, wns/badge or wns/raw."]
        }
        if type == "wns/raw" {
            return contentType.hasPrefix("application/octet-stream")
                ? [] : ["A raw notification needs the content type application/octet-stream."]
        }
        var warnings: [String] = []
        if !contentType.hasPrefix("text/xml"), !contentType.hasPrefix("application/xml") {
            warnings.append("A \(type) notification needs the content type text/xml.")
        }
        let element = String(type.dropFirst(4))
        if rootElement(of: body) != element {
            warnings.append("X-WNS-Type is \(type), but the document is not a \(element).")
        }
        return warnings
    }

    /// The name of the document's first element, in any encoding of its declaration.
    private static func rootElement(of body: [UInt8]) -> String? {
        var rest = body[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(open + 1)...]
            let name = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
            if !name.isEmpty { return String(decoding: name, as: UTF8.self) }
        }
        return nil
    }
}

/// The headers of a send that the hub passes on to the platform's push service, and so to the device.
enum PassThroughHeaders {
    /// With the names as received.
    static func select(from headers: HTTPFields, platform: NotificationFormat) -> [String: String] {
        var selected: [String: String] = [:]
        for field in headers where isSelected(field.name.canonicalName, platform) {
            selected[field.name.rawName] = field.value
        }
        return selected
    }

    private static func isSelected(_ name: String, _ platform: NotificationFormat) -> Bool {
        // Most headers of a request end here.
        switch name.utf8.first {
        case UInt8(ascii: "a"): name.hasPrefix("apns-")
        case UInt8(ascii: "c"): name == "content-type"
        case UInt8(ascii: "s"): name == "servicebusnotification-apns-expiry"
        // RFC 8030, section 5.
        case UInt8(ascii: "t"), UInt8(ascii: "u"): platform == .browser && ["ttl", "urgency", "topic"].contains(name)
        case UInt8(ascii: "x"):
            name.hasPrefix("x-apns-") || name.hasPrefix("x-wns-")
                || ["x-windowsphone-target", "x-notificationclass", "x-baidu-message-type"].contains(name)
        default: false
        }
    }
}
