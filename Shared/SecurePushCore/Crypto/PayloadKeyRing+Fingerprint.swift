import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PayloadKeyRing {
    /// Whether a text has a fingerprint.
    enum FingerprintMatch: Sendable, Hashable {
        case same, different
        /// The key that the fingerprint was made with is not in the ring.
        case unknownKey
    }

    /// The ID of the sealing key, then HMAC-SHA-256 of the context's length, the context and the text, under a key
    /// derived from the sealing key (HKDF, RFC 5869).
    func fingerprint(of text: [UInt8], context: [UInt8]) -> [UInt8] {
        let key = sealingKey
        return Array(key.id.utf8) + mac(of: text, context: context, under: key.key)
    }

    /// Compares in constant time, by the key that the fingerprint names.
    func match(_ fingerprint: [UInt8], of text: [UInt8], context: [UInt8]) -> FingerprintMatch {
        let id = String(decoding: fingerprint.dropLast(SHA256.byteCount), as: UTF8.self)
        guard let key = key(id) else { return .unknownKey }
        // `==` of a MAC and bytes is CryptoKit's comparison in constant time.
        return mac(of: text, context: context, under: key) == fingerprint.suffix(SHA256.byteCount) ? .same : .different
    }

    private func mac(of text: [UInt8], context: [UInt8], under key: SymmetricKey) -> HMAC<SHA256>.MAC {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Array("securepush fingerprint v1".utf8), outputByteCount: SHA256.byteCount)
        var mac = HMAC<SHA256>(key: derived)
        // The length keeps a context that ends like a text begins from being another pair's.
        withUnsafeBytes(of: UInt64(context.count).bigEndian) { mac.update(data: $0) }
        mac.update(data: context)
        mac.update(data: text)
        return mac.finalize()
    }
}
