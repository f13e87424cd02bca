import Foundation
import Testing

@testable import SecurePushEnvelope

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

@Suite struct SealedKeyTests {
    /// RFC 9180, appendix A.1.1, the message with sequence number 0.
    @Test func theVectorOfTheRFCIsReproduced() throws {
        let info = hex("4f6465206f6e2061204772656369616e2055726e")
        let ephemeral = try EnvelopePrivateKey(
            rawRepresentation: hex("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736"))
        let recipient = try EnvelopePrivateKey(
            rawRepresentation: hex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"))
        let (text, aad) = (
            hex("4265617574792069732074727574682c20747275746820626561757479"), hex("436f756e742d30")
        )
        let sealed = try SealedKey(
            sealing: text, for: recipient.publicKey, info: info, aad: aad, ephemeral: ephemeral.key)
        #expect(sealed.enc == hex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"))
        #expect(
            sealed.ct
                == hex("f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"))
        #expect(try sealed.open(with: recipient.key, info: info, aad: aad) == text)
    }

    /// The library's HPKE opens what is sealed here, and the other way round.
    @Test func itIsTheHPKEOfTheLibrary() throws {
        guard #available(iOS 17, macOS 14, *) else { return }
        let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)
        for length in 0..<64 {
            let key = EnvelopePrivateKey()
            let (text, aad, info) = (Data(repeating: 7, count: length), Data("alice".utf8), Data("info".utf8))
            let sealed = try SealedKey(sealing: text, for: key.publicKey, info: info, aad: aad)
            var recipient = try HPKE.Recipient(
                privateKey: key.key, ciphersuite: suite, info: info, encapsulatedKey: sealed.enc)
            #expect(try recipient.open(sealed.ct, authenticating: aad) == text)
            var sender = try HPKE.Sender(recipientKey: key.key.publicKey, ciphersuite: suite, info: info)
            let ct = try sender.seal(text, authenticating: aad)
            let other = SealedKey(enc: sender.encapsulatedKey, ct: ct)
            #expect(try other.open(with: key.key, info: info, aad: aad) == text)
        }
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
