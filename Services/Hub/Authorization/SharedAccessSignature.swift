import Foundations

/// The fields of an `Authorization: SharedAccessSignature sr=…&sig=…&se=…&skn=…` header, in any order.
///
/// `resource` and `expiry` keep the bytes that the client signed. Encoding the resource again would fail, because the
/// case of the hexadecimal digits and the set of unescaped characters differ from client to client.
struct SharedAccessSignature: Sendable {
    let resource: String
    let expiry: String
    /// Base64 text of the HMAC, percent-decoded.
    let signature: String
    /// As received: some clients escape it and some do not.
    let ruleName: String

    /// - Throws: a 401 that names the missing field, with the sub-code that official clients know.
    init(authorization: String?) throws(HubError) {
        guard let authorization, !authorization.isEmpty else { throw HubError.unauthorized(.missingToken) }
        let scheme = "SharedAccessSignature"
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme.lowercased() else {
            throw HubError.unauthorized(.malformedToken)
        }
        var fields: [Substring: Substring] = [:]
        for field in parts[1].split(separator: "&") {
            guard let equals = field.firstIndex(of: "=") else { throw HubError.unauthorized(.malformedToken) }
            let name = field[..<equals].drop { $0 == " " }
            guard fields.updateValue(field[field.index(after: equals)...], forKey: name) == nil else {
                throw HubError.unauthorized(.malformedToken)
            }
        }
        resource = try Self.required("sr", of: fields, else: .audienceNotFound)
        expiry = try Self.required("se", of: fields, else: .expiresOnNotFound)
        signature = PercentCoding.decodeLeniently(try Self.required("sig", of: fields, else: .signatureNotFound))
        ruleName = try Self.required("skn", of: fields, else: .issuerNotFound)
    }

    private static func required(
        _ name: Substring, of fields: [Substring: Substring], else fault: TokenFault
    ) throws(HubError) -> String {
        guard let value = fields[name], !value.isEmpty else { throw HubError.unauthorized(fault) }
        return String(value)
    }

    /// The input of the client's HMAC.
    var stringToSign: String { resource + "\n" + expiry }

    /// The readings of the rule's name to try: percent-decoded, form-decoded, as received.
    var ruleNames: [String] {
        [PercentCoding.decodeLeniently(ruleName), PercentCoding.decodeLeniently(ruleName, plusIsBlank: true), ruleName]
    }
}

/// The part of the namespace that a token is valid for: a host and the leading segments of a path.
///
/// Scheme, port, user information and query do not count: clients differ in all four (one forces `http`, one drops the
/// port, one keeps `sb`, one signs the query too).
struct TokenAudience: Equatable, Sendable {
    let host: String
    let segments: [String]

    /// Reads the raw `sr` field of a token.
    init(resource: some StringProtocol) {
        // Clients that use form encoding write a blank as `+`; a real plus sign is always escaped.
        var url = PercentCoding.decodeLeniently(resource, plusIsBlank: true)
        // As PercentCoding.decodeRepeatedly: each escape of an escape would be another turn over the whole text.
        for _ in 0..<8 where !url.contains("://") {
            let next = PercentCoding.decodeLeniently(url)
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

    /// Whether the token covers a path, compared segment by segment so that `/hub` does not cover `/hub2`.
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

    /// The segments of a path, fully decoded and in lower case, without empty ones.
    static func segments(ofPath path: some StringProtocol) -> [String] {
        Substring(path).utf8.split(separator: UInt8(ascii: "/")).map {
            PercentCoding.decodeRepeatedly(Substring($0)).lowercased()
        }
    }
}
