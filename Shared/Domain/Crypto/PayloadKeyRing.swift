import Crypto
package import Foundations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys for sealing payloads: the first one seals, and all of them open.
///
/// The file has one key per line: `KEYID base64(32 bytes)`. Blank lines and lines that begin with `#` are ignored.
package struct PayloadKeyRing: Sendable {
    /// A key and its ID, which is stored beside each payload that it sealed.
    package struct Key: Sendable {
        /// 1 to 64 of `A-Z a-z 0-9 . _ -`.
        package let id: String
        let key: SymmetricKey
    }

    /// The keys in the order of the file; never empty.
    package let keys: [Key]
    private let keysByID: [String: SymmetricKey]

    /// Reads the text of a key ring file.
    ///
    /// - Throws: ``SetupError``, which names the line and never anything of its content.
    package init(_ text: String) throws(SetupError) {
        var keys: [Key] = []
        var keysByID: [String: SymmetricKey] = [:]
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
            guard let first = fields.first, first.first != UInt8(ascii: "#") else { continue }
            let key = try Key(fields: fields.map { String(decoding: $0, as: UTF8.self) }, line: index + 1)
            guard keysByID.updateValue(key.key, forKey: key.id) == nil else {
                throw SetupError(
                    .malformed, "An earlier line has the same ID. Give each key its own ID.", line: index + 1)
            }
            keys.append(key)
        }
        guard !keys.isEmpty else {
            throw SetupError(.malformed, "There is no key. Create one with `securepush keys generate`.")
        }
        self.keys = keys
        self.keysByID = keysByID
    }

    /// The key that seals new payloads.
    var sealingKey: Key { keys[0] }

    func key(_ id: String) -> SymmetricKey? { keysByID[id] }

    /// The IDs, the sealing one first.
    package var keyIDs: [String] { keys.map(\.id) }
}

extension PayloadKeyRing.Key {
    fileprivate init(fields: [String], line: Int) throws(SetupError) {
        guard fields.count == 2 else {
            throw SetupError(
                .malformed, "A line must be `KEYID base64(32 bytes)`. Create one with `securepush keys generate`.",
                line: line)
        }
        guard PayloadKeyRing.isKeyID(fields[0]) else {
            throw SetupError(
                .malformed, "A key ID must be 1 to 64 letters, digits, dots, dashes or underscores.", line: line)
        }
        guard let bytes = Data(base64Encoded: fields[1]), bytes.count == 32 else {
            throw SetupError(
                .malformed, "The key is not 32 bytes in base64. Create one with `securepush keys generate`.", line: line
            )
        }
        self.init(id: fields[0], key: SymmetricKey(data: bytes))
    }
}

extension PayloadKeyRing {
    static func isKeyID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && keyIDBytes.containsAll(text)
    }

    private static let keyIDBytes = ByteSet.alphanumerics.union(ByteSet("._-"))
}

extension PayloadKeyRing {
    /// A line of a key ring file with a new random key, without a line end. Its ID is the day and 24 random bits, as in
    /// `2026-11-21-9f3c04`, so that an operator sees the age of a key.
    package static func newLine(at time: Timestamp = .now) -> String {
        var generator = SystemRandomNumberGenerator()
        let suffix = (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return newLine(id: "\(time.description.prefix(10))-\(suffix.hex)")
    }

    /// A line of a key ring file with a new random key and this ID; see ``Key/id``.
    package static func newLine(id: String) -> String {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        return "\(id) \(key.base64EncodedString())"
    }
}

extension PayloadKeyRing {
    /// The texts that are sealed. One never opens as the other, even if somebody exchanges them in the database.
    package enum Use: Sendable {
        case payload
        /// The text of a recipient's answer.
        case answer

        /// What follows the recipient's name in the additional data. No name has a NUL.
        fileprivate var suffix: String {
            switch self {
            case .payload: ""
            case .answer: "\0answer"
            }
        }
    }

    /// Seals a payload with the first key: AES-256-GCM under a random nonce.
    ///
    /// The 16 bytes of the ID and the UTF-8 of the recipient are additional data, so that a payload opens only for its
    /// notification and its user. NIST SP 800-38D, section 8.3, limits a key with random nonces to 2^32 sealings.
    ///
    /// - Throws: ``PayloadError`` with the code `failed`; no reason for it is known.
    package func seal(
        _ payload: [UInt8], id: NotificationID, recipient: UserName, as use: Use = .payload
    ) throws(PayloadError) -> SealedPayload {
        let key = sealingKey
        do {
            let box = try AES.GCM.seal(
                payload, using: key.key, authenticating: additionalData(of: id, recipient, use))
            var bytes: [UInt8] = []
            bytes.reserveCapacity(payload.count + 28)
            bytes += box.nonce
            bytes += box.ciphertext
            bytes += box.tag
            return SealedPayload(keyID: key.id, bytes: bytes)
        } catch {
            throw PayloadError(.failed, "The payload could not be sealed.")
        }
    }

    /// Opens the payload of a notification and recipient.
    ///
    /// - Throws: ``PayloadError``: `unknownKey` if the ring does not hold its key, `malformed` if it is too short,
    ///   `notAuthentic` if it was changed, or if it was sealed for another notification or user, or with another key.
    package func open(
        _ sealed: SealedPayload, id: NotificationID, recipient: UserName, as use: Use = .payload
    ) throws(PayloadError) -> [UInt8] {
        guard let key = key(sealed.keyID) else {
            throw PayloadError(.unknownKey, "The key ring holds no key \(sealed.keyID). Add it again.")
        }
        guard let box = try? AES.GCM.SealedBox(combined: sealed.bytes) else {
            throw PayloadError(.malformed, "The sealed payload is shorter than a nonce and a tag.")
        }
        guard let payload = try? AES.GCM.open(box, using: key, authenticating: additionalData(of: id, recipient, use))
        else {
            throw PayloadError(
                .notAuthentic, "The sealed payload is not the one that was stored for this notification.")
        }
        return [UInt8](payload)
    }

    private func additionalData(of id: NotificationID, _ recipient: UserName, _ use: Use) -> [UInt8] {
        id.bytes + recipient.text.utf8 + use.suffix.utf8
    }
}

extension PayloadKeyRing {
    /// The result of comparing a text with a fingerprint.
    enum FingerprintMatch: Sendable, Hashable {
        case same, different
        /// The ring does not hold the key of the fingerprint.
        case unknownKey
    }

    /// The ID of the sealing key, then HMAC-SHA-256 of the context's length, the context and the text, with a key that
    /// is derived from the sealing key (HKDF, RFC 5869).
    func fingerprint(of text: [UInt8], context: [UInt8]) -> [UInt8] {
        let key = sealingKey
        return Array(key.id.utf8) + mac(of: text, context: context, under: key.key)
    }

    /// Compares in constant time, with the key that the fingerprint names.
    func match(_ fingerprint: [UInt8], of text: [UInt8], context: [UInt8]) -> FingerprintMatch {
        let id = String(decoding: fingerprint.dropLast(SHA256.byteCount), as: UTF8.self)
        guard let key = key(id) else { return .unknownKey }
        // CryptoKit's `==` of a MAC and bytes takes constant time.
        return mac(of: text, context: context, under: key) == fingerprint.suffix(SHA256.byteCount) ? .same : .different
    }

    private func mac(of text: [UInt8], context: [UInt8], under key: SymmetricKey) -> HMAC<SHA256>.MAC {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Array("securepush fingerprint v1".utf8), outputByteCount: SHA256.byteCount)
        var mac = HMAC<SHA256>(key: derived)
        // The length separates the context from the text: two pairs with the same bytes joined differ.
        withUnsafeBytes(of: UInt64(context.count).bigEndian) { mac.update(data: $0) }
        mac.update(data: context)
        mac.update(data: text)
        return mac.finalize()
    }
}
