import Foundation
import SecurePushEnvelope

/// The device's private keys for end-to-end encryption, newest first. A store treats them as one value that can be coded.
///
/// The newest is the one that senders get. The former ones open what was sealed before senders had its successor.
public struct EnvelopeKeyRing: Codable, Sendable, Equatable {
    struct Entry: Codable, Sendable, Equatable {
        let key: StoredEnvelopeKey
        /// When it was made, in seconds since 1970.
        let madeAt: Double
        /// When the server had its successor, in seconds since 1970.
        var replacedAt: Double?
    }

    private(set) var entries: [Entry] = []

    /// Makes a ring without keys.
    public init() {}

    /// The keys that can be used, newest first. A key of the secure hardware of another device cannot.
    var keys: [any EnvelopePrivateKey] { entries.compactMap(\.key.value) }

    /// The key for senders.
    var newest: (any EnvelopePrivateKey)? { entries.first?.key.value }

    /// Whether it is time for a new key.
    ///
    /// - Parameter now: in seconds since 1970.
    func isDue(at now: Double) -> Bool {
        guard let first = entries.first, first.key.value != nil else { return true }
        return now - first.madeAt >= Self.secondsPerKey
    }

    /// Makes a new key, if it is time.
    mutating func renew(at now: Double) {
        if isDue(at: now) { entries.insert(Entry(key: StoredEnvelopeKey.make(), madeAt: now), at: 0) }
        if entries.count > Self.maxCount { entries.removeLast(entries.count - Self.maxCount) }
    }

    /// Notes that the server has the newest key, and forgets the former ones whose time is up.
    mutating func settle(at now: Double) {
        for index in entries.indices.dropFirst() where entries[index].replacedAt == nil {
            entries[index].replacedAt = now
        }
        entries.removeAll { entry in entry.replacedAt.map { now - $0 > Self.secondsAfterwards } ?? false }
    }

    /// 30 days.
    private static let secondsPerKey: Double = 30 * 86_400
    /// 90 days: the server keeps nothing longer (`MAX_LIFETIME`).
    private static let secondsAfterwards: Double = 90 * 86_400
    /// More than 90 days have. It bounds the ring while the server cannot be told.
    private static let maxCount = 16
}

extension EnvelopeKeyRing: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, so that no log shows a key.
    public var description: String { "keys of a device" }
    /// The same as ``description``, so that a debugger shows no key.
    public var debugDescription: String { description }
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A private key as stores keep it.
struct StoredEnvelopeKey: Codable, Sendable, Equatable {
    /// The bytes of the key, in base64url; of a key in the Secure Enclave those with which that finds its key.
    private let bytes: String
    private let isInSecureHardware: Bool

    /// Makes a new key: in the Secure Enclave where there is one.
    static func make() -> StoredEnvelopeKey {
        #if canImport(CryptoKit)
        if EnvelopeEnclaveKey.isAvailable, let key = try? EnvelopeEnclaveKey() {
            return StoredEnvelopeKey(bytes: Base64URL.encode(key.dataRepresentation), isInSecureHardware: true)
        }
        #endif
        return StoredEnvelopeKey(
            bytes: Base64URL.encode(EnvelopeSoftwareKey().rawRepresentation), isInSecureHardware: false)
    }

    /// `nil` if the stored key cannot be used here. A new one takes its place.
    var value: (any EnvelopePrivateKey)? {
        guard let data = Base64URL.decode(bytes, maxLength: 4_096) else { return nil }
        if isInSecureHardware {
            #if canImport(CryptoKit)
            return try? EnvelopeEnclaveKey(dataRepresentation: data)
            #else
            return nil
            #endif
        }
        return try? EnvelopeSoftwareKey(rawRepresentation: data)
    }
}
