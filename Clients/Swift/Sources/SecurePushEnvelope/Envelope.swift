public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A payload that only the recipient's devices can read: the server stores it and does not interpret it.
///
/// The content is encrypted once, by AES-256-GCM with a random key. That key is sealed for every device by HPKE
/// (RFC 9180). The recipient's name is authenticated both times, so an envelope cannot be given to another user.
/// `Clients/vectors/README.md` describes every byte.
public enum Envelope {
    /// The most devices of one envelope. A user has at most 100 installations.
    public static let maxDevices = 1_000
    /// The longest content, in bytes. The server accepts envelopes of 256 KiB.
    public static let maxContentBytes = 256 << 10

    /// Encrypts a content for all devices of a recipient.
    ///
    /// - Parameters:
    ///   - content: the JSON text that would otherwise be the `Payload`, in UTF-8.
    ///   - recipient: the user's name, as in `Recipient`.
    ///   - devices: the keys of `GET /api/recipients/{name}/keys`, by `DeviceId`.
    /// - Returns: the JSON text for `Payload`. Its devices are in the order of their IDs.
    /// - Throws: ``EnvelopeError``.
    public static func seal(
        _ content: Data, for recipient: String, devices: [String: EnvelopeKey]
    ) throws(EnvelopeError) -> String {
        try seal(content, for: recipient, devices: devices, with: EnvelopeRandomness())
    }

    /// Encrypts with chosen random values, for test vectors. Nobody else may do that: a content key or an ephemeral key
    /// that is used twice protects nothing.
    @_spi(TestVectors) public static func seal(
        _ content: Data, for recipient: String, devices: [String: EnvelopeKey], with randomness: EnvelopeRandomness
    ) throws(EnvelopeError) -> String {
        guard (1...maxDevices).contains(devices.count) else { throw .wrongNumberOfDevices }
        guard content.count <= maxContentBytes else { throw .tooLong }
        let aad = Data(recipient.utf8)
        do {
            var keys: [String: EnvelopeDocument.Key] = [:]
            for (device, key) in devices {
                let sealed = try SealedKey(
                    sealing: randomness.contentKey, for: key, info: info, aad: aad,
                    ephemeral: (randomness.ephemeralKeys[device] ?? EnvelopePrivateKey()).key)
                keys[device] = EnvelopeDocument.Key(
                    enc: Base64URL.encode(sealed.enc), ct: Base64URL.encode(sealed.ct))
            }
            let box = try AES.GCM.seal(
                content, using: SymmetricKey(data: randomness.contentKey),
                nonce: try AES.GCM.Nonce(data: randomness.iv), authenticating: aad)
            let document = EnvelopeDocument(
                e2e: 1, keys: keys, iv: Base64URL.encode(randomness.iv),
                ct: Base64URL.encode(box.ciphertext + box.tag))
            return try document.json
        } catch {
            throw .malformedKey
        }
    }

    /// Decrypts an envelope.
    ///
    /// - Parameters:
    ///   - payload: the JSON text of the `Payload`.
    ///   - recipient: the user of this device.
    ///   - device: the installation's ID.
    ///   - key: the device's key; `nil` if it has none.
    /// - Returns: the content, which is JSON text of the sender.
    /// - Throws: ``EnvelopeError/notForThisDevice`` or ``EnvelopeError/unopenable``.
    public static func open(
        _ payload: String, for recipient: String, device: String, with key: EnvelopePrivateKey?
    ) throws(EnvelopeError) -> Data {
        guard payload.utf8.count <= maxPayloadBytes,
            let document = try? JSONDecoder().decode(EnvelopeDocument.self, from: Data(payload.utf8)),
            document.e2e == 1, document.keys.count <= maxDevices,
            let iv = Base64URL.decode(document.iv), iv.count == 12,
            let ct = Base64URL.decode(document.ct, maxLength: maxPayloadBytes), ct.count >= 16
        else { throw .unopenable }
        guard let entry = document.keys[device], let key else { throw .notForThisDevice }
        guard let enc = Base64URL.decode(entry.enc), enc.count == 32,
            let sealed = Base64URL.decode(entry.ct), sealed.count == 48
        else { throw .unopenable }
        let aad = Data(recipient.utf8)
        do {
            let contentKey = try SealedKey(enc: enc, ct: sealed).open(with: key.key, info: info, aad: aad)
            let box = try AES.GCM.SealedBox(
                nonce: try AES.GCM.Nonce(data: iv), ciphertext: ct.dropLast(16), tag: ct.suffix(16))
            return try AES.GCM.open(box, using: SymmetricKey(data: contentKey), authenticating: aad)
        } catch {
            throw .unopenable
        }
    }

    /// Tells whether a payload is meant to be an envelope: a JSON object with the members `e2e` and `ct`. It may still
    /// be malformed.
    ///
    /// - Parameter payload: the JSON text of the `Payload`.
    public static func isEnvelope(_ payload: String) -> Bool {
        // The tree of a large payload needs more memory than a service extension has, so others are not read.
        guard payload.utf8.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{"),
            payload.contains("\"e2e\""), payload.contains("\"ct\"")
        else { return false }
        let members = (try? JSONSerialization.jsonObject(with: Data(payload.utf8))) as? [String: Any]
        return members?["e2e"] != nil && members?["ct"] != nil
    }

    private static let info = Data("securepush-e2e-v1".utf8)
    /// The longest answer of the server, in bytes.
    private static let maxPayloadBytes = 2 << 20
}

/// The random values of one envelope.
@_spi(TestVectors) public struct EnvelopeRandomness: Sendable {
    /// 32 bytes.
    public var contentKey: Data
    /// 12 bytes.
    public var iv: Data
    /// By device. A device without one gets a new key.
    public var ephemeralKeys: [String: EnvelopePrivateKey]

    /// New values from the system's source.
    init() {
        contentKey = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        iv = Data(AES.GCM.Nonce())
        ephemeralKeys = [:]
    }

    /// Chosen values.
    public init(contentKey: Data, iv: Data, ephemeralKeys: [String: EnvelopePrivateKey]) {
        self.contentKey = contentKey
        self.iv = iv
        self.ephemeralKeys = ephemeralKeys
    }
}

/// The JSON of an envelope.
private struct EnvelopeDocument: Codable {
    struct Key: Codable {
        var enc: String
        var ct: String
    }

    var e2e: Int
    var keys: [String: Key]
    var iv: String
    var ct: String

    /// The text, with the members in the order of their names.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
