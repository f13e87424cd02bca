import Domain
import Foundations

/// The origin of a web app, exactly as browsers write it in `Origin` (RFC 6454, section 6.2): scheme, host, and the
/// port unless it is the scheme's own.
package struct WebOrigin: Sendable, Hashable {
    /// The text, such as `https://app.example.org`.
    package let text: String

    /// Reads an origin. A spelling that no browser sends is refused, because it would never match.
    ///
    /// - Throws: ``ConfigurationRefusal``.
    package init(_ text: String) throws(ConfigurationRefusal) {
        if text == "null" { throw ConfigurationRefusal("is null, the origin of every sandboxed page: name the app's") }
        if text.utf8.contains(UInt8(ascii: "*")) {
            throw ConfigurationRefusal("has a wildcard: list the exact origins")
        }
        guard let colon = text.firstRange(of: "://") else {
            throw ConfigurationRefusal("has no scheme, as in https://app.example.org")
        }
        let scheme = text[..<colon.lowerBound]
        guard Self.isScheme(scheme) else {
            throw ConfigurationRefusal("has an invalid scheme: write it in lower case, as in https://app.example.org")
        }
        let place = text[colon.upperBound...]
        if place.utf8.contains(where: { Self.afterPlace.contains($0) }) {
            throw ConfigurationRefusal("has a path, a query or a fragment: end it after the host or the port")
        }
        try Self.check(place, scheme: scheme)
        self.text = text
    }

    private static let schemeBytes = ByteSet("abcdefghijklmnopqrstuvwxyz").union(.digits).union(ByteSet("+-."))
    private static let hostBytes = ByteSet("abcdefghijklmnopqrstuvwxyz").union(.digits).union(ByteSet("-._"))
    private static let addressBytes = ByteSet("abcdef").union(.digits).union(ByteSet(":."))
    private static let afterPlace = ByteSet("/?#\\")
    private static let ownPorts: [Substring: Int] = ["http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21]

    /// RFC 3986, section 3.1, in lower case. Documents of `file:` have the origin `null`.
    private static func isScheme(_ scheme: Substring) -> Bool {
        guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
            return false
        }
        return schemeBytes.containsAll(scheme) && scheme != "file"
    }

    private static func check(_ place: Substring, scheme: Substring) throws(ConfigurationRefusal) {
        let host: Substring
        let isAddress = place.utf8.first == UInt8(ascii: "[")
        if isAddress {
            host = place.prefix { $0 != "]" }.dropFirst()
        } else {
            host = place.prefix { $0 != ":" }
        }
        let rest = place.dropFirst(isAddress ? host.count + 2 : host.count)
        let isHost = !host.isEmpty && (isAddress ? addressBytes : hostBytes).containsAll(host)
        guard isHost, !isAddress || place.contains("]") else {
            throw ConfigurationRefusal("has an invalid host: write it in lower-case ASCII, as browsers do")
        }
        if rest.isEmpty { return }
        guard rest.first == ":", let port = port(rest.dropFirst()) else {
            throw ConfigurationRefusal("has an invalid port")
        }
        if ownPorts[scheme] == port {
            throw ConfigurationRefusal("names the port \(port), which browsers leave out: leave it out")
        }
    }

    private static func port(_ text: Substring) -> Int? {
        guard ByteSet.digits.containsAll(text), text.first != "0", let port = Int(text) else { return nil }
        return (1...65_535).contains(port) ? port : nil
    }
}

extension ConfigurationParser where Value == WebOrigin {
    package static var webOrigin: Self {
        ConfigurationParser(hint: "ORIGIN") { text throws(ConfigurationRefusal) in try WebOrigin(text) }
    }
}

extension ConfigurationParser where Value == String {
    /// The name of a header field: a token (RFC 9110, section 5.6.2) of at most 64 characters, and no wildcard.
    package static var headerName: Self {
        ConfigurationParser(hint: "NAME") { text throws(ConfigurationRefusal) in
            guard (1...64).contains(text.utf8.count), ByteSet.alphanumerics.union(ByteSet("-_.")).containsAll(text)
            else {
                throw ConfigurationRefusal("is no name of a header field (letters, digits, '-', '_' and '.')")
            }
            return text
        }
    }
}
