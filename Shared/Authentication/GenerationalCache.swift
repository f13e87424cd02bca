internal import Crypto

/// A bounded cache that drops roughly the least recently used entries, at a constant cost.
///
/// It has a young and an old half. An entry that is used moves to the young half. When that is full, it becomes the old
/// half, and the entries of the previous old half are dropped.
struct GenerationalCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let halfCapacity: Int

    init(capacity: Int) { halfCapacity = max(1, capacity / 2) }

    var count: Int { young.count + old.count }

    mutating func value(for key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        insert(value, for: key)
        return value
    }

    mutating func insert(_ value: Value, for key: Key) {
        if young.count >= halfCapacity, young[key] == nil {
            old = young
            young = [:]
        }
        old[key] = nil
        young[key] = value
    }

    mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }
}

/// The key for credentials in a cache: 32 bytes of a hash, so that the cache holds neither credentials nor long texts.
struct CacheKey: Hashable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The key for a token. A plain hash is enough, because tokens cannot be guessed.
    init(token: String) {
        var text = token
        words = text.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }.withUnsafeBytes(Self.words)
    }

    /// The key for a password. Without the secret, passwords cannot be guessed from a copy of the memory.
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
