import Domain
import Foundations
import Testing

struct PushSigningKeyTests {
    /// The key of RFC 7515, appendix A.3.
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----
        """

    @Test func `The key of RFC 7515 has its public key`() throws {
        let key = try PushSigningKey(pem: Self.pem)
        let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":""#
        #expect(PushVerificationKeys(key.publicKey).jwks.contains(jwk))
        #expect(key.pem == Self.pem + "\n")
    }

    @Test func `Line ends and blanks around the lines do not matter`() throws {
        let text = "\r\n " + Self.pem.split(separator: "\n").joined(separator: " \r\n ") + "\n\n"
        #expect(try PushSigningKey(pem: text).pem == Self.pem + "\n")
    }

    @Test func `A new key comes back from its text, and no two are the same`() throws {
        let (first, second) = (PushSigningKey(), PushSigningKey())
        #expect(try PushSigningKey(pem: first.pem).publicKey == first.publicKey)
        #expect(first.publicKey != second.publicKey && first.publicKey.keyID != second.publicKey.keyID)
    }

    /// The reasons are those of ``ES256Key``.
    @Test(arguments: [
        ("", "it has no private key"), (pem + "\n" + pem, "or several"),
        (pem.replacing("PRIVATE", with: "ENCRYPTED PRIVATE"), "is encrypted: decrypt it"),
        (pem.replacing("MIGH", with: "MIGI"), "its text is damaged"),
        // Ed25519 (RFC 8410, section 10.3).
        (
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                + "-----END PRIVATE KEY-----", "it is an Ed25519 key"
        ),
    ])
    func `Anything else is refused with the reason, and nothing of it is told`(_ text: String, _ reason: String) {
        let error = #expect(throws: SetupError.self) { try PushSigningKey(pem: text) }
        #expect(error?.message.contains(reason) == true)
        #expect(error?.message.contains("securepush keys generate --push") == true)
        #expect(error.map { !$0.message.contains("gjpsQnnGQmL") && !$0.message.contains("NTuctv5E1hK") } ?? false)
    }
}
