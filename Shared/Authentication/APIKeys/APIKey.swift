internal import Crypto
internal import SecurePushCore

/// A sender's secret: `spk_` and 32 random bytes in base64url.
///
/// It has 256 bits of chance, so that its SHA-256 can be kept in a file and looked up directly: there is nothing to
/// guess, and so nothing for a slow hash to slow down.
enum APIKey {
    /// Lets people, and scanners of repositories, see what the text is.
    static let prefix = "spk_"

    static func make() -> String { prefix + Base64.encode(SystemRandomNumberGenerator.bytes(32), .url) }

    /// The lower-case hex SHA-256 of the key, as the file holds it.
    static func hash(_ key: some StringProtocol) -> String { SHA256.hash(data: [UInt8](key.utf8)).hex }

    /// Whether the text can name a sender: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension SystemRandomNumberGenerator {
    /// Bytes that nobody can foresee.
    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}
