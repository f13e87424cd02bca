package import AsyncHTTPClient
import Foundations
package import ServiceConfiguration

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

extension OutgoingProxy {
    package var setting: HTTPClient.Configuration.Proxy {
        .server(host: host, port: port, authorization: basicCredentials.map { .basic(credentials: $0) })
    }
}
