package import HTTPTypes
package import Hummingbird

/// The host names under which a page for developers or operators answers, and its API.
///
/// A web page can bind its own name to this machine's address (DNS rebinding). Its requests are then of the same
/// origin, and only the `Host` header distinguishes them from those of our page. An API that needs a token in each
/// request needs no such list.
package struct HostAllowList: Sendable {
    private let hosts: Set<String>
    /// Whether `Host` may be any IP address, which no page's name can be. So when all addresses are listened on.
    private let allowsAddresses: Bool
    /// The setting that adds names.
    private let setting: String

    /// - Parameters:
    ///   - listeningHost: the host that is listened on.
    ///   - allowed: further names, in any case, without a port.
    ///   - setting: the setting that adds names, for the text of a refusal.
    package init(listeningHost: String, allowed: [String], setting: String) {
        self.setting = setting
        let own = ["localhost", "127.0.0.1", "::1", listeningHost] + allowed
        hosts = Set(own.map(Self.plain))
        allowsAddresses = ["0.0.0.0", "::"].contains(listeningHost)
    }

    /// - Parameter authority: the `Host` header, with or without a port; nil when it is absent.
    package func allows(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty, !authority.contains("@") else { return false }
        let host = Self.plain(Self.host(ofAuthority: authority))
        if hosts.contains(host) || host.hasSuffix(".localhost") { return true }
        let isAddress = Self.isAddress(host)
        return isAddress && (allowsAddresses || host.hasPrefix("127."))
    }

    /// - Throws: 403 for a host name that is not in the list.
    package func check(_ request: Request) throws(Problem) {
        guard allows(request.head.authority) else {
            throw Problem.forbidden(
                "The page and its API do not answer under this host name. Add it to \(setting).")
        }
    }

    /// Whether a request comes from a page of the same origin, or from a program that is no browser. Browsers send
    /// `Origin` with every request of a page that changes something, and newer ones `Sec-Fetch-Site`.
    package static func isSameOrigin(_ request: Request) -> Bool {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" { return false }
        guard let origin = request.headers[.origin] else { return true }
        let authority = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
        return authority.lowercased() == request.head.authority?.lowercased()
    }

    /// The host of `host:port`; the brackets of an IPv6 address stay.
    private static func host(ofAuthority authority: String) -> String {
        if authority.first == "[", let close = authority.firstIndex(of: "]") { return String(authority[...close]) }
        return String(authority.prefix { $0 != ":" })
    }

    /// In lower case, without the brackets of an IPv6 address and the dot of an absolute name.
    private static func plain(_ host: String) -> String {
        var host = host.lowercased()[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host.hasSuffix(".") { host = host.dropLast() }
        return String(host)
    }

    private static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return host.allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == ":" || $0 == ".") } }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension HTTPField.Name {
    /// `Sec-Fetch-Site` (W3C Fetch Metadata, section 2.4).
    package static let secFetchSite = HTTPField.Name(static: "sec-fetch-site")
}
