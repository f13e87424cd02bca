internal import Crypto

/// What stands for credentials in a cache: 32 bytes of a hash, so that the cache holds no credentials and no long
/// texts.
struct CacheKey: Hashable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// For a token: what it is made of cannot be guessed.
    init(token: String) {
        var text = token
        words = text.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }.withUnsafeBytes(Self.words)
    }

    /// For a password: without the secret, nobody can try passwords on what the memory holds.
    init(password: String, secret: SymmetricKey) {
        var text = password
        words = text.withUTF8 { HMAC<SHA256>.authenticationCode(for: UnsafeRawBufferPointer($0), using: secret) }
            .withUnsafeBytes(Self.words)
    }

    static func == (lhs: CacheKey, rhs: CacheKey) -> Bool { lhs.words == rhs.words }

    func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

    private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
        return (word(0), word(1), word(2), word(3))
    }
}
