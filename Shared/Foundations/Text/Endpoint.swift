/// Where a server is: `SCHEME://HOST:PORT` without credentials, path, query and fragment. A final slash is allowed.
package struct Endpoint: Sendable, Hashable {
    /// In lower case.
    package let scheme: String
    /// A name or an address, as it is written; an IPv6 address without its brackets.
    package let host: String
    /// From 1 to 65535; `nil` if none is given.
    package let port: Int?

    package enum Problem: Error {
        case noScheme, otherScheme
        /// Not a host and a port, or something else besides them.
        case place
    }

    /// - Parameter schemes: those that are allowed, in lower case.
    package init(_ text: String, schemes: Set<String>) throws(Problem) {
        guard let mark = text.firstRange(of: "://") else { throw .noScheme }
        scheme = text[..<mark.lowerBound].lowercased()
        guard schemes.contains(scheme) else { throw .otherScheme }
        var place = text[mark.upperBound...]
        if place.last == "/" { place.removeLast() }
        guard let address = HostAndPort(place), address.isHost, address.port != 0 else { throw .place }
        (host, port) = (address.host, address.port)
    }
}

/// `HOST`, `HOST:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`, or an IPv6 address without brackets. The host is any text.
package struct HostAndPort: Sendable {
    package var host: String
    package var port: Int?
    private var isBracketed = false

    package init?(_ text: Substring) {
        if text.first == "[" {
            guard let end = text.lastIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<end])
            isBracketed = true
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

    private static let nameBytes = ByteSet.alphanumerics.union(ByteSet("-._"))
    private static let addressBytes = ByteSet.hexDigits.union(ByteSet(":."))

    /// Whether the host is a name or an address as URLs have it: an IPv6 address only in brackets.
    fileprivate var isHost: Bool {
        isBracketed
            ? host.utf8.contains(UInt8(ascii: ":")) && Self.addressBytes.containsAll(host)
            : !host.isEmpty && Self.nameBytes.containsAll(host)
    }
}
