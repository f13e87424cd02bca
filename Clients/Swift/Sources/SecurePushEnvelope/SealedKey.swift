import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A content key, sealed for one device: HPKE (RFC 9180), mode base, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256,
/// AES-128-GCM, one message.
///
/// CryptoKit has HPKE from iOS 17 on, and it lets nobody choose the ephemeral key, which the test vectors must. This is
/// the same algorithm for iOS 15, of the primitives that CryptoKit has there; the tests compare it with the vectors of
/// RFC 9180 (appendix A.1.1) and with swift-crypto's HPKE.
struct SealedKey: Sendable, Hashable {
    /// The ephemeral public key, 32 bytes.
    var enc: Data
    /// The ciphertext and the tag.
    var ct: Data

    /// Seals a text.
    ///
    /// - Throws: an error of the library for a key of low order.
    init(
        sealing text: Data, for key: EnvelopeKey, info: Data, aad: Data,
        ephemeral: Curve25519.KeyAgreement.PrivateKey = Curve25519.KeyAgreement.PrivateKey()
    ) throws {
        let publicKey = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: key.rawRepresentation)
        let secret = try ephemeral.sharedSecretFromKeyAgreement(with: publicKey)
        enc = ephemeral.publicKey.rawRepresentation
        let context = try HPKEContext(secret, enc: enc, recipient: key.rawRepresentation, info: info)
        let box = try AES.GCM.seal(text, using: context.key, nonce: context.nonce, authenticating: aad)
        ct = box.ciphertext + box.tag
    }

    init(enc: Data, ct: Data) {
        self.enc = enc
        self.ct = ct
    }

    /// Opens the text.
    ///
    /// - Throws: an error of the library if it was sealed for another key, or was changed.
    func open(with key: Curve25519.KeyAgreement.PrivateKey, info: Data, aad: Data) throws -> Data {
        let secret = try key.sharedSecretFromKeyAgreement(
            with: try Curve25519.KeyAgreement.PublicKey(rawRepresentation: enc))
        let context = try HPKEContext(secret, enc: enc, recipient: key.publicKey.rawRepresentation, info: info)
        let box = try AES.GCM.SealedBox(nonce: context.nonce, ciphertext: ct.dropLast(16), tag: ct.suffix(16))
        return try AES.GCM.open(box, using: context.key, authenticating: aad)
    }
}

/// The key and the nonce of the first message (RFC 9180, sections 4.1 and 5.1).
private struct HPKEContext {
    let key: SymmetricKey
    let nonce: AES.GCM.Nonce

    /// "HPKE", DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM (section 7).
    private static let suite = Data("HPKE".utf8) + Data([0x00, 0x20, 0x00, 0x01, 0x00, 0x01])
    /// "KEM", DHKEM(X25519, HKDF-SHA256).
    private static let kem = Data("KEM".utf8) + Data([0x00, 0x20])

    init(_ secret: SharedSecret, enc: Data, recipient: Data, info: Data) throws {
        // Section 7.1.4: an exchange that yields zero is refused.
        let dh = secret.withUnsafeBytes { Data($0) }
        guard dh.contains(where: { $0 != 0 }) else { throw EnvelopeError.malformedKey }
        let prk = Self.extract(Self.kem, salt: Data(), "eae_prk", SymmetricKey(data: dh))
        let shared = Self.expand(Self.kem, prk, "shared_secret", enc + recipient, 32)
        let none = SymmetricKey(data: Data())
        var context = Data([0])
        context += Self.extract(Self.suite, salt: Data(), "psk_id_hash", none).bytes
        context += Self.extract(Self.suite, salt: Data(), "info_hash", SymmetricKey(data: info)).bytes
        let root = Self.extract(Self.suite, salt: shared.bytes, "secret", none)
        key = Self.expand(Self.suite, root, "key", context, 16)
        nonce = try AES.GCM.Nonce(data: Self.expand(Self.suite, root, "base_nonce", context, 12).bytes)
    }

    /// LabeledExtract (section 4).
    private static func extract(_ suite: Data, salt: Data, _ label: String, _ material: SymmetricKey) -> SymmetricKey {
        let text = Data("HPKE-v1".utf8) + suite + Data(label.utf8) + material.bytes
        return SymmetricKey(
            data: Data(HKDF<SHA256>.extract(inputKeyMaterial: SymmetricKey(data: text), salt: salt)))
    }

    /// LabeledExpand (section 4).
    private static func expand(
        _ suite: Data, _ key: SymmetricKey, _ label: String, _ info: Data, _ length: Int
    ) -> SymmetricKey {
        let text = Data([UInt8(length >> 8), UInt8(length & 0xFF)]) + Data("HPKE-v1".utf8) + suite
        return HKDF<SHA256>.expand(
            pseudoRandomKey: key, info: text + Data(label.utf8) + info, outputByteCount: length)
    }
}

extension SymmetricKey {
    fileprivate var bytes: Data { withUnsafeBytes { Data($0) } }
}
