/// Where a hub's namespace is reached: scheme, host and port of the connection string's `Endpoint`.
public struct HubEndpoint: Sendable, Hashable {
    /// `https`, which `sb` stands for; `false` is plain HTTP to this machine.
    public let usesTLS: Bool
    /// A name or an address; an IPv6 address is without brackets.
    public let host: String
    public let port: Int

    /// Host and port as the `Host` header has them: brackets around IPv6, a default port left out.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `https://AUTHORITY`, without a final slash.
    public var url: String { (usesTLS ? "https://" : "http://") + authority }

    /// Whether the host can only be this machine: `localhost`, `::1` or an address of 127.0.0.0/8.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "127" else { return false }
        return parts.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) } && UInt8($0) != nil }
    }

    /// Reads `sb://`, `https://` or `http://`, a host, a port if any, and a final slash if any.
    ///
    /// - Parameter insecureHost: the one host, beside this machine, to which plain HTTP is allowed.
    init(_ text: String, insecureHost: String? = nil) throws(NotificationHubConfigurationError) {
        guard let separator = text.firstRange(of: "://") else { throw .endpoint("has no scheme; it begins with sb://") }
        switch text[..<separator.lowerBound].lowercased() {
        case "sb", "https": usesTLS = true
        case "http": usesTLS = false
        default: throw .endpoint("must begin with sb:// or https://")
        }
        var authority = text[separator.upperBound...]
        if authority.last == "/" { authority.removeLast() }
        guard let (host, port) = Self.split(authority) else {
            throw .endpoint("must be a host name and nothing more, as in sb://NAMESPACE.servicebus.windows.net/")
        }
        self.host = host.lowercased()
        self.port = port ?? (usesTLS ? 443 : 80)
        if !usesTLS && !isLoopback && self.host != insecureHost?.lowercased() {
            throw .endpoint("may be http:// only for this machine (127.0.0.1, ::1, localhost); write https:// or sb://")
        }
    }

    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var rest = Substring()
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.contains(":"), host.utf8.allSatisfy(\.isAddressCharacter) else { return nil }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                rest = authority[colon...]
            }
            guard host.utf8.allSatisfy(\.isHostCharacter) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        if rest.isEmpty { return (String(host), nil) }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
        return (String(host), Int(port))
    }
}

extension UInt8 {
    /// A letter, digit, `-`, `.` or `_`.
    fileprivate var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A hex digit, `:` or `.`.
    fileprivate var isAddressCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension NotificationHubConfigurationError {
    fileprivate static func endpoint(_ what: String) -> Self {
        Self(.endpoint, "Endpoint in the connection string \(what).")
    }
}
