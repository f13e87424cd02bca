import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A payload that only the recipient's devices can read: the server stores it and does not interpret it.
///
/// The content is encrypted once, by AES-256-GCM with a random key. That key is sealed for every device by HPKE
/// (RFC 9180), bound to the recipient's name and to the encrypted content. A sender may sign it. See
/// `docs/reference/e2e-envelope.md`.
public struct Envelope: Sendable {
    /// The most devices of one envelope. A user has at most 100 installations.
    public static let maxDevices = 100
    /// The longest content, in bytes. The server accepts envelopes of 256 KiB.
    public static let maxContentBytes = 256 << 10

    private let keys: [String: SealedKey]
    private let iv: Data
    private let ct: Data
    private let sender: Sender?

    private struct Sender {
        var id: String
        var signature: Data
    }

    /// Reads a payload.
    ///
    /// - Parameter payload: the JSON text of the `Payload`.
    /// - Returns: `nil` for a payload that is not encrypted: JSON that is no object with a member `e2e`.
    /// - Throws: ``EnvelopeError/unopenable`` for a malformed envelope, and for a text that is not ``StrictJSON``: never
    ///   show either.
    public init?(payload: String) throws(EnvelopeError) {
        guard payload.utf8.count <= Self.maxPayloadBytes, let json = try? StrictJSON(payload.utf8) else {
            throw .unopenable
        }
        guard let version = json["e2e"] else { return nil }
        guard version.number == "2", let entries = json["keys"]?.members,
            (1...Self.maxDevices).contains(entries.count), let iv = Self.bytes(json["iv"], 12...12),
            let ct = Self.bytes(json["ct"], 16...Self.maxPayloadBytes)
        else { throw .unopenable }
        var keys: [String: SealedKey] = [:]
        for (device, entry) in entries {
            guard Self.isInstallationID(device), let enc = Self.bytes(entry["enc"], 65...65), enc.first == 4,
                let sealed = Self.bytes(entry["ct"], 48...48)
            else { throw .unopenable }
            keys[device] = SealedKey(enc: enc, ct: sealed)
        }
        (self.keys, self.iv, self.ct) = (keys, iv, ct)
        guard json["from"] != nil || json["sig"] != nil else {
            sender = nil
            return
        }
        guard let id = json["from"]?.text, (1...128).contains(id.utf8.count),
            let signature = Self.bytes(json["sig"], 64...64)
        else { throw .unopenable }
        sender = Sender(id: id, signature: signature)
    }

    /// Verifies and decrypts.
    ///
    /// Call ``OpenedEnvelope/verify(wasOpenedBefore:now:)`` before you show the content.
    ///
    /// - Parameters:
    ///   - recipient: the user of this device.
    ///   - device: the installation's ID.
    ///   - keys: the device's keys, the newest first: former ones open what was sealed before a rotation.
    ///   - senderKeys: the senders that this device accepts; `nil`: a signature is not verified.
    /// - Throws: ``EnvelopeError``.
    public func open(
        for recipient: String, device: String, with keys: [any EnvelopePrivateKey], senderKeys: SenderKeys? = nil
    ) throws(EnvelopeError) -> OpenedEnvelope {
        let name = Data(recipient.utf8)
        let digest = Self.digest(iv, ct)
        if let senderKeys {
            guard let sender,
                senderKeys.keys.isValid(sender.signature, for: Self.signedText(name, digest), by: sender.id)
            else { throw .wrongSender }
        }
        guard let entry = self.keys[device], !keys.isEmpty else { throw .notForThisDevice }
        let contentKey = try Self.unwrap(entry, with: keys, aad: Self.keyAAD(name, digest))
        guard
            let box = try? AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: iv), ciphertext: ct.dropLast(16), tag: ct.suffix(16)),
            let content = try? AES.GCM.open(box, using: SymmetricKey(data: contentKey), authenticating: name)
        else { throw .unopenable }
        return try OpenedEnvelope(content)
    }

    private static func unwrap(
        _ entry: SealedKey, with keys: [any EnvelopePrivateKey], aad: Data
    ) throws(EnvelopeError) -> Data {
        var failure = EnvelopeError.unopenable
        for key in keys {
            do {
                return try entry.open(with: key, info: info, aad: aad)
            } catch {
                // Another key may fit; one that cannot be used now might have.
                if error == .keyUnavailable { failure = error }
            }
        }
        throw failure
    }

    private static func bytes(_ json: StrictJSON?, _ lengths: ClosedRange<Int>) -> Data? {
        guard let text = json?.text, let bytes = Base64URL.decode(text, maxLength: maxPayloadBytes),
            lengths.contains(bytes.count)
        else { return nil }
        return bytes
    }

    /// The server's rule for the IDs of installations.
    static func isInstallationID(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count) && id.utf8.contains { $0 != UInt8(ascii: ".") }
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    static func digest(_ iv: Data, _ ct: Data) -> Data { Data(SHA256.hash(data: iv + ct)) }

    /// The additional data of a sealed key.
    static func keyAAD(_ recipient: Data, _ digest: Data) -> Data { recipient + [0] + digest }

    /// The text that a sender signs.
    static func signedText(_ recipient: Data, _ digest: Data) -> Data {
        let digits = Array("0123456789abcdef".utf8)
        let hex = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return Data("securepush-e2e-v2\n".utf8) + recipient + Data("\n".utf8) + hex + Data("\n".utf8)
    }

    static let info = Data("securepush-e2e-v2".utf8)
    /// The longest answer of the server, in bytes.
    private static let maxPayloadBytes = 2 << 20
}
