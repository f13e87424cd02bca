public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

extension Envelope {
    /// Encrypts a content for all devices of a recipient.
    ///
    /// - Parameters:
    ///   - content: the JSON text that would otherwise be the `Payload`, in UTF-8: a string, or a message.
    ///   - recipient: the user's name, as in `Recipient`.
    ///   - devices: the keys of `GET /api/recipients/{name}/keys`, by `DeviceId`.
    ///   - expiry: from then on devices do not show it. Use the notification's `ExpiresAt`.
    ///   - sender: signs the envelope.
    /// - Returns: the JSON text for `Payload`. Its devices are in the order of their IDs.
    /// - Throws: ``EnvelopeError``.
    public static func seal(
        _ content: Data, for recipient: String, devices: [String: EnvelopeKey], expiresAt expiry: Date? = nil,
        signedBy sender: SenderKey? = nil
    ) throws(EnvelopeError) -> String {
        try seal(
            content, for: recipient, devices: devices, expiresAt: expiry, signedBy: sender, with: EnvelopeRandomness())
    }

    /// Encrypts with chosen random values, for test vectors. Nobody else may do that: a content key or an ephemeral key
    /// that is used twice protects nothing.
    @_spi(TestVectors) public static func seal(
        _ content: Data, for recipient: String, devices: [String: EnvelopeKey], expiresAt expiry: Date? = nil,
        signedBy sender: SenderKey? = nil, with randomness: EnvelopeRandomness
    ) throws(EnvelopeError) -> String {
        guard (1...maxDevices).contains(devices.count) else { throw .wrongNumberOfDevices }
        guard content.count <= maxContentBytes else { throw .tooLong }
        let document = try document(content, expiresAt: expiry, with: randomness)
        let name = Data(recipient.utf8)
        do {
            let ct = try sealContent(document, with: randomness.contentKey, nonce: randomness.iv, for: recipient)
            let digest = digest(randomness.iv, ct)
            var entries: [String] = []
            for (device, key) in devices.sorted(by: { $0.key < $1.key }) {
                guard isInstallationID(device) else { throw EnvelopeError.malformedAnswer }
                let sealed = try SealedKey(
                    sealing: randomness.contentKey, for: key, info: info, aad: keyAAD(name, digest),
                    ephemeral: randomness.ephemeralKeys[device] ?? EnvelopeSoftwareKey())
                entries.append(
                    #""\#(device)":{"enc":\#(EnvelopeJSON.string(sealed.enc)),"ct":\#(EnvelopeJSON.string(sealed.ct))}"#
                )
            }
            let keys = entries.joined(separator: ",")
            let iv = EnvelopeJSON.string(randomness.iv)
            var json = #"{"e2e":2,"keys":{\#(keys)},"iv":\#(iv),"ct":\#(EnvelopeJSON.string(ct))"#
            if let sender {
                let signature = try sender.sign(signedText(name, digest))
                json += #","from":\#(EnvelopeJSON.string(sender.id)),"sig":\#(EnvelopeJSON.string(signature))"#
            }
            return json + "}"
        } catch {
            throw error as? EnvelopeError ?? .malformedKey
        }
    }

    /// AES-256-GCM: the ciphertext and the tag.
    static func sealContent(_ document: Data, with key: Data, nonce: Data, for recipient: String) throws -> Data {
        let box = try AES.GCM.seal(
            document, using: SymmetricKey(data: key), nonce: try AES.GCM.Nonce(data: nonce),
            authenticating: Data(recipient.utf8))
        return box.ciphertext + box.tag
    }

    /// The document to encrypt, padded.
    private static func document(
        _ content: Data, expiresAt expiry: Date?, with randomness: EnvelopeRandomness
    ) throws(EnvelopeError) -> Data {
        var document = Data(#"{"id":"\#(randomness.id.uuidString.lowercased())","at":\#(randomness.createdAt),"#.utf8)
        // Dates beyond what devices read, 12 digits, never come.
        let seconds = expiry.map { $0.timeIntervalSince1970.rounded(.down) }
        if let seconds, seconds < 1e12 { document += Data(#""exp":\#(Int(max(0, seconds))),"#.utf8) }
        document += Data(#""content":"#.utf8) + content + Data("}".utf8)
        // The devices' rule, for the document as a whole: the content is one level deeper there.
        guard (try? StrictJSON(content)) != nil, (try? StrictJSON(document)) != nil else { throw .notJSON }
        return document + Data(repeating: UInt8(ascii: " "), count: paddedCount(document.count) - document.count)
    }

    /// The next of 128, 256, 512 and 1,024 bytes, above that a multiple of 1,024: so the length of a short text, such as
    /// "yes" or "no", is not seen.
    static func paddedCount(_ count: Int) -> Int {
        [128, 256, 512].first { count <= $0 } ?? (count + 1_023) / 1_024 * 1_024
    }
}

/// The random values of one envelope.
@_spi(TestVectors) public struct EnvelopeRandomness: Sendable {
    public var id: UUID
    /// Seconds since 1970.
    public var createdAt: Int
    /// 32 bytes.
    public var contentKey: Data
    /// 12 bytes.
    public var iv: Data
    /// By device. A device without one gets a new key.
    public var ephemeralKeys: [String: EnvelopeSoftwareKey]

    /// New values from the system's source.
    public init() {
        id = UUID()
        createdAt = Int(Date().timeIntervalSince1970)
        contentKey = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        iv = Data(AES.GCM.Nonce())
        ephemeralKeys = [:]
    }

    /// Chosen values.
    public init(
        id: UUID, createdAt: Int, contentKey: Data, iv: Data, ephemeralKeys: [String: EnvelopeSoftwareKey]
    ) {
        (self.id, self.createdAt, self.contentKey, self.iv) = (id, createdAt, contentKey, iv)
        self.ephemeralKeys = ephemeralKeys
    }
}
