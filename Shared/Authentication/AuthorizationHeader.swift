/// The value of an `Authorization` header: `scheme SP token68` (RFC 9110, 11.6.2).
struct AuthorizationHeader {
    enum Scheme { case bearer, basic, other }

    let scheme: Scheme
    /// What follows the scheme, without the blanks around it.
    let credentials: Substring

    /// - Returns: `nil` when there is no scheme.
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

    /// Whether the credentials are a token68: what both schemes carry.
    var isToken68: Bool {
        let text = credentials.utf8
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.count > padding && text.dropLast(padding).allSatisfy(isToken68Byte)
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

private func isToken68Byte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
    default: false
    }
}
