import Crypto
import Foundation

/// The encryption of a push for one subscription (RFC 8291): content encoding `aes128gcm` (RFC 8188) with one record.
///
/// Every message has a fresh key pair and a fresh salt.
enum WebPushEncryption {
    /// The message does not fit into one push: more than 3,993 bytes.
    struct TooLarge: Error {}

    /// The content is filled up with zeros to one of these sizes in bytes, so that its length tells little about it.
    /// With the largest, a body has the 4,096 bytes that every push service takes (RFC 8030, section 7.2).
    static let sizes = [128, 512, 1_024, 2_048, 3_993]
    /// The record size that the header names. One record is never longer.
    private static let recordSize: UInt32 = 4_096

    /// Encrypts a message.
    ///
    /// - Returns: the body of the request; `nil` only if the library fails for lack of memory.
    static func encrypt(_ message: [UInt8], for subscription: WebPushSubscription) throws(TooLarge) -> [UInt8]? {
        guard let size = sizes.first(where: { $0 >= message.count }) else { throw TooLarge() }
        return encrypt(
            message, padding: size - message.count, for: subscription, key: makeKey(),
            salt: SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
    }

    /// A new key pair.
    ///
    /// swift-crypto tries each key that it makes out by a signature and its verification (`EC_KEY_check_fips`), which
    /// takes longer than the whole encryption. A number below the group's order is a key, and 2³² to 1 are.
    static func makeKey() -> P256.KeyAgreement.PrivateKey {
        let number = SymmetricKey(size: .bits256)
        return number.withUnsafeBytes { try? P256.KeyAgreement.PrivateKey(rawRepresentation: $0) } ?? .init()
    }

    /// Encrypts a message with a key and a salt that must not have been used before; the vectors of RFC 8291 bring
    /// theirs.
    static func encrypt(
        _ message: [UInt8], padding: Int, for subscription: WebPushSubscription, key: P256.KeyAgreement.PrivateKey,
        salt: [UInt8]
    ) -> [UInt8]? {
        guard let shared = try? key.sharedSecretFromKeyAgreement(with: subscription.publicKey) else { return nil }
        let sender = [UInt8](key.publicKey.x963Representation)
        // RFC 8291, section 3.4.
        let combined = shared.withUnsafeBytes { code(of: $0, key: subscription.authSecret) }
        let info = Array("WebPush: info\0".utf8) + subscription.publicPoint + sender
        let input = code(of: info + [1], key: combined)
        return encode(message, padding: padding, inputKey: input, salt: salt, keyID: sender)
    }

    /// HKDF of at most 32 bytes consists of HMACs, and both RFCs write it so too. The library's HKDF takes 9 µs for a
    /// message, and these HMACs take 6.
    private static func code(of message: some DataProtocol, key: some ContiguousBytes) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
    }

    /// One record of `aes128gcm` with its header (RFC 8188, section 2).
    static func encode(
        _ content: [UInt8], padding: Int, inputKey: some ContiguousBytes, salt: [UInt8], keyID: [UInt8]
    ) -> [UInt8]? {
        let secret = inputKey.withUnsafeBytes { code(of: $0, key: salt) }
        // RFC 8188, sections 2.2 and 2.3.
        let derivation = HMAC<SHA256>(key: SymmetricKey(data: secret))
        func derive(_ info: String) -> HMAC<SHA256>.MAC {
            var derivation = derivation
            derivation.update(data: Array(info.utf8) + [0, 1])
            return derivation.finalize()
        }
        let key = derive("Content-Encoding: aes128gcm").withUnsafeBytes { SymmetricKey(data: $0.prefix(16)) }
        let nonceBytes = Array(derive("Content-Encoding: nonce").prefix(12))
        // The delimiter of the last record is 2.
        let record = content + [2] + Array(repeating: 0, count: padding)
        guard let nonce = try? AES.GCM.Nonce(data: nonceBytes),
            let box = try? AES.GCM.seal(record, using: key, nonce: nonce)
        else { return nil }
        let size = withUnsafeBytes(of: recordSize.bigEndian) { Array($0) }
        let header = salt + size + [UInt8(truncatingIfNeeded: keyID.count)] + keyID
        return header + box.ciphertext + box.tag
    }
}
