import Foundation
import Testing

@testable import SecurePushEnvelope

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

@Suite struct SealedKeyTests {
    /// RFC 9180, appendix A.3.1, the message with sequence number 0.
    @Test func theVectorOfTheRFCIsReproduced() throws {
        let info = hex("4f6465206f6e2061204772656369616e2055726e")
        let ephemeral = try EnvelopeSoftwareKey(
            rawRepresentation: hex("4995788ef4b9d6132b249ce59a77281493eb39af373d236a1fe415cb0c2d7beb"))
        let recipient = try EnvelopeSoftwareKey(
            rawRepresentation: hex("f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2"))
        let (text, aad) = (
            hex("4265617574792069732074727574682c20747275746820626561757479"), hex("436f756e742d30")
        )
        let sealed = try SealedKey(
            sealing: text, for: recipient.publicKey, info: info, aad: aad, ephemeral: ephemeral)
        #expect(
            sealed.enc
                == hex(
                    "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac9"
                        + "8536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4"))
        #expect(
            sealed.ct
                == hex("5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434"))
        #expect(try sealed.open(with: recipient, info: info, aad: aad) == text)
    }

    /// The library's HPKE opens what is sealed here, and the other way round.
    @Test func itIsTheHPKEOfTheLibrary() throws {
        guard #available(iOS 17, macOS 14, *) else { return }
        let suite = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)
        for length in 0..<64 {
            let library = P256.KeyAgreement.PrivateKey()
            let key = try EnvelopeSoftwareKey(rawRepresentation: library.rawRepresentation)
            let (text, aad, info) = (Data(repeating: 7, count: length), Data("alice".utf8), Data("info".utf8))
            let sealed = try SealedKey(
                sealing: text, for: key.publicKey, info: info, aad: aad, ephemeral: EnvelopeSoftwareKey())
            var recipient = try HPKE.Recipient(
                privateKey: library, ciphersuite: suite, info: info, encapsulatedKey: sealed.enc)
            #expect(try recipient.open(sealed.ct, authenticating: aad) == text)
            var sender = try HPKE.Sender(recipientKey: library.publicKey, ciphersuite: suite, info: info)
            let ct = try sender.seal(text, authenticating: aad)
            let other = SealedKey(enc: sender.encapsulatedKey, ct: ct)
            #expect(try other.open(with: key, info: info, aad: aad) == text)
        }
    }

    /// A key in secure hardware may be locked. That is no reason to give the envelope up.
    @Test func aKeyThatCannotBeUsedNowIsToldApart() throws {
        struct Locked: EnvelopePrivateKey {
            let publicKey: EnvelopeKey
            func sharedSecret(with key: EnvelopeKey) throws -> Data { throw CancellationError() }
        }
        let (key, other) = (EnvelopeSoftwareKey(), EnvelopeSoftwareKey())
        let payload = try Envelope.seal(Data("1".utf8), for: "alice", devices: ["a": key.publicKey])
        let envelope = try #require(try Envelope(payload: payload))
        let locked = Locked(publicKey: key.publicKey)
        #expect(throws: EnvelopeError.keyUnavailable) {
            try envelope.open(for: "alice", device: "a", with: [locked, other])
        }
        #expect(try envelope.open(for: "alice", device: "a", with: [locked, key]).content == Data("1".utf8))
    }
}

/// The bytes of hexadecimal digits.
func hex(_ digits: String) -> Data {
    var (rest, data) = (digits[...], Data())
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        data.append(byte)
        rest = rest.dropFirst(2)
    }
    return data
}
