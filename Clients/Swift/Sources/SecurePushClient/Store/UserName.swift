/// A user's name, compared byte for byte, as the server does. Swift compares strings by canonical equivalence: `é` as
/// one character and as `e` with an accent are equal, but they are two users.
struct UserName: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

extension UserName: Hashable {
    static func == (left: UserName, right: UserName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension UserName: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(text) }
}

extension UserName: Codable {
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
