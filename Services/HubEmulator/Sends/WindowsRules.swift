import HTTPTypes

/// What WNS and MPNS would object to.
enum WindowsRules {
    /// The hub itself takes a raw notification as bytes only.
    ///
    /// - Throws: 400 with the service's own sentence.
    static func checkRaw(_ format: NotificationFormat, _ headers: HTTPFields) throws(HubError) {
        guard format == .windows, headers[HubHeaders.windowsType]?.lowercased() == "wns/raw" else { return }
        let mediaType = (headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard mediaType == "application/octet-stream" else {
            throw HubError.badRequest(
                "The content type for a 'wns/raw' notification must be 'application/octet-stream'")
        }
    }

    /// - Parameter headers: names in lower case.
    static func warnings(_ headers: [String: String], _ body: [UInt8]) -> [String] {
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
            warnings.append("X-WNS-Type is \(type), but the document is no \(element).")
        }
        return warnings
    }

    /// Microsoft's retired service for phones: class 1, 11, 21 is a tile, 2, 12, 22 a toast, 3, 13, 23 raw.
    static func phoneWarnings(_ headers: [String: String]) -> [String] {
        let target = headers["x-windowsphone-target"]?.lowercased()
        switch headers["x-notificationclass"].flatMap({ Int($0) }) {
        case 1, 11, 21: return target == "token" ? [] : ["A tile needs X-WindowsPhone-Target token."]
        case 2, 12, 22: return target == "toast" ? [] : ["A toast needs X-WindowsPhone-Target toast."]
        case 3, 13, 23: return target == nil ? [] : ["A raw notification has no X-WindowsPhone-Target."]
        default: return ["MPNS needs X-NotificationClass."]
        }
    }

    /// The name of the document's element, past declaration and comments, whatever encoding it claims.
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
