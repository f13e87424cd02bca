/// The part of the namespace that a token is good for: a host and the leading segments of a path.
///
/// Scheme, port, user information and query are dropped on purpose: clients differ in all four (one forces `http`, one
/// drops the port, one keeps `sb`, one signs the query too).
struct TokenAudience: Equatable, Sendable {
    let host: String
    let segments: [String]

    /// Reads the raw `sr` field of a token.
    init(resource: some StringProtocol) {
        // A blank travels as `+` from clients that use form encoding; a real plus sign is always escaped.
        var url = PercentDecoding.decode(resource, plusIsBlank: true)
        while !url.contains("://") {
            let next = PercentDecoding.decode(url)
            if next.utf8.elementsEqual(url.utf8) { break }
            url = next
        }
        self.init(url: url)
    }

    /// Reads a URL, with or without its scheme.
    init(url: String) {
        var rest = url[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        host = Self.host(ofAuthority: authority)
        segments = Self.segments(ofPath: rest[authority.endIndex...])
    }

    /// Whether a request to this path is covered, compared segment by segment so that `/hub` does not cover `/hub2`.
    func covers(pathSegments: [String]) -> Bool {
        segments.count <= pathSegments.count && zip(segments, pathSegments).allSatisfy { $0 == $1 }
    }

    /// The host of `user@host:port`, in lower case; the brackets of an IPv6 address stay.
    static func host(ofAuthority authority: some StringProtocol) -> String {
        var host = Substring(authority).utf8
        if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[host.index(after: at)...] }
        if host.first == UInt8(ascii: "["), let close = host.firstIndex(of: UInt8(ascii: "]")) {
            host = host[...close]
        } else if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
            host = host[..<colon]
        }
        return Substring(host).lowercased()
    }

    /// The segments of a path, fully decoded and in lower case, empty ones left out.
    static func segments(ofPath path: some StringProtocol) -> [String] {
        Substring(path).utf8.split(separator: UInt8(ascii: "/")).map {
            PercentDecoding.decodeRepeatedly(Substring($0)).lowercased()
        }
    }
}
