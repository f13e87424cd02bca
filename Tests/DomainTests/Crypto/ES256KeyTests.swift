import Crypto
import Domain
import Foundations
import Testing

@Suite struct ES256KeyTests {
    private static func block(_ label: String, _ bytes: [UInt8]) -> String {
        "-----BEGIN \(label)-----\n\(Base64.encode(bytes, .standard))\n-----END \(label)-----\n"
    }

    @Test func `A key is read back`() throws {
        let key = ES256Key()
        let again = try ES256Key(pem: "A note before.\r\n" + key.pem.replacing("\n", with: "\r\n"))
        #expect(again.publicPoint == key.publicPoint)
        #expect(again.id == key.id)
        #expect(key.publicPoint.count == 65)
        #expect(key.publicText.utf8.count == 87)
        #expect(key.id.utf8.count == 8)
    }

    @Test func `A token is signed as JSON Web Signatures are`() throws {
        let key = ES256Key()
        let token = try #require(key.token(header: #"{"alg":"ES256"}"#, claims: #"{"a":1}"#))
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        #expect(Base64.decode(parts[1], .url) == Array(#"{"a":1}"#.utf8))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: try #require(Base64.decode(parts[2], .url)))
        let publicKey = try P256.Signing.PublicKey(x963Representation: key.publicPoint)
        #expect(publicKey.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test(arguments: [
        ("", "it has no private key, or several"), ("x", "it has no private key"),
        (block("PUBLIC KEY", [1, 2]), "it has no private key, or several"),
        (block("EC PRIVATE KEY", [1, 2]), "convert it with `openssl pkcs8"),
        (block("PRIVATE KEY", [1, 2]), "its text is damaged"),
        (block("PRIVATE KEY", [0x30, 0x0B, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]), "it is an RSA key"),
        (block("PRIVATE KEY", [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70]), "it is an Ed25519 key"),
        (P384.Signing.PrivateKey().pemRepresentation, "it is on P-384"),
        (P521.Signing.PrivateKey().pemRepresentation, "it is on P-521"),
        (block("ENCRYPTED PRIVATE KEY", [1, 2]), "the private key is encrypted"),
        (ES256Key().pem + ES256Key().pem, "it has no private key, or several"),
    ])
    func `Another file is refused with the reason`(pem: String, reason: String) {
        let error = #expect(throws: SetupError.self) { try ES256Key(pem: pem) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
}
