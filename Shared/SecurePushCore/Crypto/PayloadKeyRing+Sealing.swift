import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PayloadKeyRing {
    /// Seals a payload with the first key: AES-256-GCM under a random nonce.
    ///
    /// The ID's 16 bytes and the recipient's UTF-8 are additional data, so that what is stored for one notification or
    /// user opens for no other. NIST SP 800-38D, section 8.3, bounds a key under random nonces to 2^32 sealings.
    ///
    /// - Throws: ``PayloadError`` with code `failed`; there is no known reason for it.
    public func seal(
        _ payload: [UInt8], id: NotificationID, recipient: UserName
    ) throws(PayloadError) -> SealedPayload {
        let key = sealingKey
        do {
            let box = try AES.GCM.seal(
                payload, using: key.key, authenticating: additionalData(of: id, recipient))
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

    /// Opens a sealed payload of this notification and recipient.
    ///
    /// - Throws: ``PayloadError``: `unknownKey` when the ring does not hold its key, `malformed` when it is too short,
    ///   `notAuthentic` when it was changed, or sealed for another notification or user, or with another key.
    public func open(
        _ sealed: SealedPayload, id: NotificationID, recipient: UserName
    ) throws(PayloadError) -> [UInt8] {
        guard let key = key(sealed.keyID) else {
            throw PayloadError(.unknownKey, "The key ring holds no key \(sealed.keyID). Put it back.")
        }
        guard let box = try? AES.GCM.SealedBox(combined: sealed.bytes) else {
            throw PayloadError(.malformed, "The sealed payload is shorter than its nonce and tag.")
        }
        guard let payload = try? AES.GCM.open(box, using: key, authenticating: additionalData(of: id, recipient)) else {
            throw PayloadError(.notAuthentic, "The sealed payload is not what was stored for this notification.")
        }
        return [UInt8](payload)
    }

    private func additionalData(of id: NotificationID, _ recipient: UserName) -> [UInt8] {
        id.bytes + recipient.text.utf8
    }
}
