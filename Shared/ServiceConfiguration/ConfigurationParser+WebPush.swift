package import Domain
import Foundations

extension ConfigurationParser where Value == ApplicationServerKey {
    /// The public VAPID key of a hub.
    package static var applicationServerKey: Self {
        ConfigurationParser(hint: "KEY") { text throws(ConfigurationRefusal) in
            guard let key = ApplicationServerKey(text) else {
                throw ConfigurationRefusal("is not the 65 bytes of a point on P-256 in base64url without padding")
            }
            return key
        }
    }
}

extension ConfigurationParser where Value == String {
    /// The address of a page (RFC 3986): `https:`, a host, no user information, at most 500 bytes. Every push to a
    /// browser has it, and a push has room for 3,993 bytes.
    package static var webPage: Self {
        ConfigurationParser(hint: "URL") { text throws(ConfigurationRefusal) in
            guard text.utf8.starts(with: "https://".utf8) else { throw ConfigurationRefusal("is no https:// URL") }
            guard text.utf8.count <= 500 else { throw ConfigurationRefusal("has more than 500 bytes") }
            let authority = text.utf8.dropFirst(8).prefix { !"/?#".utf8.contains($0) }
            guard pageBytes.containsAll(text), let first = authority.first, first != UInt8(ascii: ":"),
                !authority.contains(UInt8(ascii: "@"))
            else { throw ConfigurationRefusal("is no URL with a host and without a user") }
            return text
        }
    }
}

/// The characters that stand in a URL as they are.
private let pageBytes = ByteSet.visible.subtracting(ByteSet("\"<>\\^`{|}"))
