internal import Foundations

/// The value of an `Authorization` header: `scheme SP token68` (RFC 9110, 11.6.2).
struct AuthorizationHeader {
    enum Scheme { case bearer, basic, other }

    let scheme: Scheme
    /// The text after the scheme, without blanks around it.
    let credentials: Substring

    /// - Returns: `nil` if there is no scheme.
    init?(_ value: String) {
        let text = value.utf8.drop(while: isBlank)
        let name = text.prefix { !isBlank($0) }
        guard !name.isEmpty else { return nil }
        scheme = Self.isSame(name, "bearer") ? .bearer : Self.isSame(name, "basic") ? .basic : .other
        var rest = text[name.endIndex...].drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        credentials = Substring(rest)
    }

    private static func isSame(_ name: Substring.UTF8View, _ lowerCase: StaticString) -> Bool {
        lowerCase.withUTF8Buffer { wanted in name.elementsEqual(wanted) { $0 | 0x20 == $1 } }
    }

    private static let token68Bytes = ByteSet.unreserved.union(ByteSet("+/"))

    /// Whether the credentials are a token68, which both schemes use.
    var isToken68: Bool {
        let text = credentials.utf8
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.count > padding && Self.token68Bytes.containsAll(text.dropLast(padding))
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

enum Challenge {
    /// For a request without a token (RFC 6750, section 3).
    static let bearer = #"Bearer realm="securepush""#

    /// For a password (RFC 7617, sections 2 and 2.1).
    static let basic = #"Basic realm="securepush", charset="UTF-8""#

    /// For a token that is not accepted (RFC 6750, section 3.1). The description must not have quotes or backslashes.
    static func invalidToken(_ description: String) -> String {
        #"Bearer realm="securepush", error="invalid_token", error_description="\#(description)""#
    }
}
