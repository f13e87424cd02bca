import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A content key, sealed for one device: HPKE (RFC 9180), mode base, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256,
/// AES-128-GCM, one message.
///
/// CryptoKit has HPKE from iOS 17 on, not for keys in the Secure Enclave, and it lets nobody choose the ephemeral key,
/// which the test vectors must. This is the same algorithm of the primitives that CryptoKit has in iOS 15; the tests
/// compare it with the vectors of RFC 9180 (appendix A.3.1) and with swift-crypto's HPKE.
struct SealedKey: Sendable, Hashable {
    /// The ephemeral public key, 65 bytes.
    var enc: Data
    /// The ciphertext and the tag.
    var ct: Data

    /// Seals a text.
    ///
    /// - Throws: an error of the library.
    init(
        sealing text: Data, for key: EnvelopeKey, info: Data, aad: Data, ephemeral: any EnvelopePrivateKey
    ) throws {
        enc = ephemeral.publicKey.x963Representation
        let context = try HPKEContext(
            try ephemeral.sharedSecret(with: key), enc: enc, recipient: key.x963Representation, info: info)
        let box = try AES.GCM.seal(text, using: context.key, nonce: context.nonce, authenticating: aad)
        ct = box.ciphertext + box.tag
    }

    init(enc: Data, ct: Data) { (self.enc, self.ct) = (enc, ct) }

    /// Opens the text.
    ///
    /// - Throws: ``EnvelopeError/keyUnavailable`` if the key cannot be used now, and ``EnvelopeError/unopenable`` if the
    ///   text was sealed for another key, or was changed.
    func open(with key: any EnvelopePrivateKey, info: Data, aad: Data) throws(EnvelopeError) -> Data {
        guard let point = try? EnvelopeKey(x963Representation: enc) else { throw .unopenable }
        guard let secret = try? key.sharedSecret(with: point) else { throw .keyUnavailable }
        do {
            let context = try HPKEContext(
                secret, enc: enc, recipient: key.publicKey.x963Representation, info: info)
            let box = try AES.GCM.SealedBox(nonce: context.nonce, ciphertext: ct.dropLast(16), tag: ct.suffix(16))
            return try AES.GCM.open(box, using: context.key, authenticating: aad)
        } catch {
            throw .unopenable
        }
    }
}

/// The key and the nonce of the first message (RFC 9180, sections 4.1 and 5.1).
private struct HPKEContext {
    let key: SymmetricKey
    let nonce: AES.GCM.Nonce

    /// "HPKE", DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM (section 7).
    private static let suite = Data("HPKE".utf8) + Data([0x00, 0x10, 0x00, 0x01, 0x00, 0x01])
    /// "KEM", DHKEM(P-256, HKDF-SHA256).
    private static let kem = Data("KEM".utf8) + Data([0x00, 0x10])

    init(_ dh: Data, enc: Data, recipient: Data, info: Data) throws {
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
