import SecurePushCore

/// An HTTP proxy (RFC 9110, section 3.7) that connections to other servers go through.
package struct OutgoingProxy: Sendable, Hashable {
    /// A name or an address, without brackets.
    package let host: String
    /// From 1 to 65535.
    package let port: Int
    /// `USER:PASSWORD` in Base64, as in `Proxy-Authorization: Basic` (RFC 7617); `nil` without credentials.
    package let basicCredentials: String?

    /// Reads `http://USER:PASSWORD@HOST:PORT`. The scheme and the credentials may be missing, and the port is 80 then.
    /// Credentials are percent-encoded where they hold characters of the URL's own.
    ///
    /// - Throws: ``ConfigurationRefusal``, which never shows the credentials.
    package init(_ text: String) throws(ConfigurationRefusal) {
        var rest = text[...]
        if let scheme = text.firstRange(of: "://") {
            guard text[..<scheme.lowerBound].lowercased() == "http" else {
                throw ConfigurationRefusal("is not the URL of an HTTP proxy, as in http://proxy.example:3128")
            }
            rest = text[scheme.upperBound...]
        }
        if rest.last == "/" { rest.removeLast() }
        if let at = rest.lastIndex(of: "@") {
            basicCredentials = try Self.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        } else {
            basicCredentials = nil
        }
        guard let address = HostAndPort(rest), address.port != 0, Self.isHost(address.host) else {
            throw ConfigurationRefusal("has no valid host and port, as in http://proxy.example:3128")
        }
        host = address.host
        port = address.port ?? 80
    }

    private static func credentials(_ text: Substring) throws(ConfigurationRefusal) -> String {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.compactMap { PercentCoding.decode($0) }
        guard decoded.count == parts.count, let user = decoded.first, !user.isEmpty, !user.utf8.contains(0x3A) else {
            throw ConfigurationRefusal("has credentials that are not percent-encoded USER:PASSWORD")
        }
        return Base64.encode("\(user):\(decoded.count > 1 ? decoded[1] : "")".utf8, .standard)
    }

    private static let hostBytes = ByteSet.alphanumerics.union(ByteSet("-._:"))
    private static func isHost(_ host: String) -> Bool { !host.isEmpty && hostBytes.containsAll(host) }
}

extension OutgoingProxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Host and port, never the credentials.
    package var description: String { host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)" }
    package var debugDescription: String { description }
    /// `dump` and the interpolation of containers reflect: the credentials must not appear there either.
    package var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }
}

/// `HOST`, `HOST:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`, or an IPv6 address without brackets.
struct HostAndPort {
    var host: String
    var port: Int?

    init?(_ text: Substring) {
        if text.first == "[" {
            guard let end = text.lastIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return }
            guard rest.first == ":", let port = Self.port(rest.dropFirst()) else { return nil }
            self.port = port
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // More than one colon is an address.
        guard parts.count == 2 else {
            host = String(text)
            return
        }
        guard let port = Self.port(parts[1]) else { return nil }
        host = String(parts[0])
        self.port = port
    }

    private static func port(_ text: Substring) -> Int? {
        guard !text.isEmpty, ByteSet.digits.containsAll(text), let port = Int(text) else { return nil }
        return (0...65_535).contains(port) ? port : nil
    }
}

/// The hosts that are reached without a proxy (`NO_PROXY`).
///
/// There is no standard. This is the form of Go's `golang.org/x/net/http/httpproxy`, which most other programs agree
/// with: a list of
/// - `*`: every host;
/// - `example.com`: the host and all names below it; `.example.com` and `*.example.com`: the names below it;
/// - `192.0.2.1` or `2001:db8::1`: the address; `192.0.2.0/24`: the network. Names are not looked up for these;
/// - each of the first two with `:PORT`, for that port alone.
package struct ProxyExceptions: Sendable, Hashable {
    private enum Entry: Hashable {
        case all
        case name(String, isSuffixOnly: Bool, port: Int?)
        case network(AddressBlock, port: Int?)
    }

    private var entries: [Entry] = []

    /// No exceptions.
    package init() {}

    /// Reads the list. Entries are separated by commas or spaces.
    ///
    /// - Throws: ``ConfigurationRefusal`` if a network's prefix or a port cannot be read.
    package init(_ text: String) throws(ConfigurationRefusal) {
        for item in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            entries.append(try Self.entry(item))
        }
    }

    private static func entry(_ item: Substring) throws(ConfigurationRefusal) -> Entry {
        if item == "*" { return .all }
        if item.contains("/") {
            guard let network = AddressBlock(item) else {
                throw ConfigurationRefusal("has a network that cannot be read, unlike 10.0.0.0/8")
            }
            return .network(network, port: nil)
        }
        guard let place = HostAndPort(item), !place.host.isEmpty else {
            throw ConfigurationRefusal("has an entry with a port that cannot be read")
        }
        if let network = AddressBlock(place.host) { return .network(network, port: place.port) }
        var name = place.host.lowercased()
        if name.hasPrefix("*.") { name.removeFirst() }
        let isSuffixOnly = name.hasPrefix(".")
        return .name(isSuffixOnly ? String(name.dropFirst()) : name, isSuffixOnly: isSuffixOnly, port: place.port)
    }

    /// Whether a host is reached without a proxy.
    package func contains(_ host: String, port: Int) -> Bool {
        let name = (host.last == "." ? String(host.dropLast()) : host).lowercased()
        let address = NetworkAddress(name)
        return entries.contains { entry in
            switch entry {
            case .all: true
            case .name(let suffix, let isSuffixOnly, let only):
                (only == nil || only == port) && (name == suffix && !isSuffixOnly || name.hasSuffix("." + suffix))
            case .network(let network, let only):
                (only == nil || only == port) && address.map(network.contains) == true
            }
        }
    }
}

extension ConfigurationParser where Value == OutgoingProxy {
    /// The URL of a proxy; see ``OutgoingProxy``.
    package static var proxy: Self {
        ConfigurationParser(hint: "URL") { text throws(ConfigurationRefusal) in try OutgoingProxy(text) }
    }
}

extension ConfigurationParser where Value == ProxyExceptions {
    /// The hosts without a proxy; see ``ProxyExceptions``.
    package static var proxyExceptions: Self {
        ConfigurationParser(hint: "LIST") { text throws(ConfigurationRefusal) in try ProxyExceptions(text) }
    }
}
