import SecurePushCore

/// The parts of a connection string as copied from the hub's portal page:
/// `Endpoint=sb://NS.servicebus.windows.net/;SharedAccessKeyName=RULE;SharedAccessKey=KEY`.
///
/// It is split on `;`, then on the first `=`, because keys end in `=`. The case and the order of part names do not
/// matter. A part that is unknown or occurs twice is an error, as in the .NET client: otherwise such a mistake would
/// show as a 401 much later.
struct HubConnectionString: Sendable {
    var endpoint: HubEndpoint
    var keyName: String
    var key: String
    /// The portal never shows it for a hub; some tools add it.
    var entityPath: String?

    init(_ text: String, insecureHost: String? = nil) throws(NotificationHubConfigurationError) {
        let parts = try Self.parts(text)
        endpoint = try HubEndpoint(try Self.require(.endpoint, in: parts), insecureHost: insecureHost)
        keyName = try Self.require(.sharedAccessKeyName, in: parts)
        key = try Self.require(.sharedAccessKey, in: parts)
        entityPath = parts[.entityPath]
    }

    private enum Part: String, CaseIterable {
        case endpoint = "Endpoint"
        case sharedAccessKeyName = "SharedAccessKeyName"
        case sharedAccessKey = "SharedAccessKey"
        case entityPath = "EntityPath"
    }

    private static func parts(_ text: String) throws(NotificationHubConfigurationError) -> [Part: String] {
        var parts: [Part: String] = [:]
        let text = OutsideText.trimmed(text)
        guard OutsideText.controlCharacter(in: text) == nil else {
            throw .init(.malformed, "The connection string has a control character: copy the whole string again.")
        }
        for piece in OutsideText.parts(text, at: ";").map({ OutsideText.trimmed($0) }) where !piece.isEmpty {
            guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw .init(.malformed, "A part of the connection string has no \"=\": copy the whole string again.")
            }
            let name = OutsideText.trimmed(piece[..<equals]).lowercased()
            guard let part = Part.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
                // The name is not shown: in a damaged string it may be a part of the key.
                let names = Part.allCases.map(\.rawValue).joined(separator: ", ")
                throw .init(.unknownPart, "The connection string has an unknown part; it may have only \(names).")
            }
            guard parts[part] == nil else {
                throw .init(.duplicatePart, "The connection string has \(part.rawValue) twice: remove one.")
            }
            parts[part] = OutsideText.trimmed(piece[piece.utf8.index(after: equals)...])
        }
        return parts
    }

    private static func require(
        _ part: Part, in parts: [Part: String]
    ) throws(NotificationHubConfigurationError) -> String {
        guard let value = parts[part], !value.isEmpty else {
            throw .init(
                .missingPart,
                "The connection string has no \(part.rawValue): copy it from the hub's page \"Access Policies\".")
        }
        return value
    }
}

/// The address of a hub's namespace: scheme, host and port of the connection string's `Endpoint`.
package struct HubEndpoint: Sendable, Hashable {
    /// `true` for `https` and `sb`; `false` for plain HTTP to this machine.
    package let usesTLS: Bool
    /// A name or an address; an IPv6 address has no brackets.
    package let host: String
    /// The TCP port; 443 or 80 if the endpoint names none.
    package let port: Int

    /// Host and port as in the `Host` header: brackets around IPv6, and no default port.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `https://AUTHORITY`, without a final slash.
    package var url: String { (usesTLS ? "https://" : "http://") + authority }

    /// Whether the host can only be this machine: `localhost`, `::1` or an address of 127.0.0.0/8.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "127" else { return false }
        return parts.allSatisfy { ByteSet.digits.containsAll($0) && UInt8($0) != nil }
    }

    /// Reads `sb://`, `https://` or `http://`, a host, and optionally a port and a final slash.
    ///
    /// - Parameter insecureHost: the only host besides this machine to which plain HTTP is allowed.
    init(_ text: String, insecureHost: String? = nil) throws(NotificationHubConfigurationError) {
        guard let separator = text.firstRange(of: "://") else {
            throw .endpoint("has no scheme; it must begin with sb://")
        }
        switch text[..<separator.lowerBound].lowercased() {
        case "sb", "https": usesTLS = true
        case "http": usesTLS = false
        default: throw .endpoint("must begin with sb:// or https://")
        }
        var authority = text[separator.upperBound...]
        if authority.last == "/" { authority.removeLast() }
        guard let (host, port) = Self.split(authority) else {
            throw .endpoint("must be only a host name, as in sb://NAMESPACE.servicebus.windows.net/")
        }
        self.host = host.lowercased()
        self.port = port ?? (usesTLS ? 443 : 80)
        if !usesTLS && !isLoopback && self.host != insecureHost?.lowercased() {
            throw .endpoint(
                "may use http:// only for this machine (127.0.0.1, ::1, localhost); write https:// or sb://")
        }
    }

    private static let nameBytes = ByteSet.alphanumerics.union(ByteSet("-._"))
    private static let addressBytes = ByteSet.hexDigits.union(ByteSet(":."))

    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var rest = Substring()
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.contains(":"), Self.addressBytes.containsAll(host) else { return nil }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                rest = authority[colon...]
            }
            guard Self.nameBytes.containsAll(host) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        if rest.isEmpty { return (String(host), nil) }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
        return (String(host), Int(port))
    }
}

extension NotificationHubConfigurationError {
    fileprivate static func endpoint(_ what: String) -> Self {
        Self(.endpoint, "Endpoint in the connection string \(what).")
    }
}
