import Domain
import Foundations
import Testing

struct PushSigningKeyTests {
    /// RFC 8410, section 10.3; its public key is in section 10.1.
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----
        """
    static let x = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE"

    @Test func `The key of RFC 8410 has its public key`() throws {
        let key = try PushSigningKey(pem: Self.pem)
        let keys = PushVerificationKeys(key.publicKey)
        #expect(keys.jwks.contains(#"{"kty":"OKP","crv":"Ed25519","x":"\#(Self.x)","kid":""#))
        #expect(key.pem == Self.pem + "\n")
    }

    @Test func `Line ends and blanks around the lines do not matter`() throws {
        let text = "\r\n " + Self.pem.split(separator: "\n").joined(separator: " \r\n ") + "\n\n"
        #expect(try PushSigningKey(pem: text).pem == Self.pem + "\n")
    }

    @Test func `An encrypted key is named as such`() {
        let text = Self.pem.replacing("PRIVATE", with: "ENCRYPTED PRIVATE")
        let error = #expect(throws: SetupError.self) { try PushSigningKey(pem: text) }
        #expect(error?.message.contains("is encrypted: decrypt it") == true)
    }

    @Test func `A new key comes back from its text, and no two are the same`() throws {
        let (first, second) = (PushSigningKey(), PushSigningKey())
        #expect(try PushSigningKey(pem: first.pem).publicKey == first.publicKey)
        #expect(first.publicKey != second.publicKey && first.publicKey.keyID != second.publicKey.keyID)
    }

    @Test(arguments: [
        "", "secret", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
        // X25519 (RFC 8410): as long as an Ed25519 key, and for another purpose.
        pem.replacing("MC4CAQAwBQYDK2Vw", with: "MC4CAQAwBQYDK2Vu"),
        pem.replacing("PRIVATE", with: "PUBLIC"), pem.replacing("dVhC", with: "dVh"),
        pem.replacing("MC4C", with: "MC4D"), pem + "\n" + pem, String(pem.dropLast(12)),
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----
        """,
    ])
    func `Anything else is refused, and nothing of it is told`(_ text: String) {
        let error = #expect(throws: SetupError.self) { try PushSigningKey(pem: text) }
        #expect(error?.message.contains("securepush keys generate --push") ?? false)
        #expect(error.map { !$0.message.contains("NTuctv5E1hK") } ?? false)
    }
}
