import Crypto
import CryptoExtras
import Foundations
import Logging
import Testing

@testable import Authentication

struct KeySetTests {
    private func read(_ text: String) throws -> VerificationKeySet {
        try VerificationKeySet(
            jwks: Array(text.utf8), logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test(arguments: [
        #""use":"enc""#, #""use":7"#, #""key_ops":["sign"]"#, #""alg":"RS256""#, #""alg":"none""#, #""alg":1"#,
        #""kid":7"#,
    ])
    func `Keys of another use are left out`(members: String) {
        #expect(throws: SetupError.self) { try read(jwks(TestKey.es256().jwk(members))) }
    }

    @Test(arguments: [
        #"{"kty":"unknown"}"#, #"{}"#, "7", #"{"kty":"oct","k":"c2hvcnQ"}"#, #"{"kty":"oct"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
            + #""y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
        #"{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"RSA"}"#,
    ])
    func `Unusable keys are left out`(key: String) throws {
        #expect(throws: SetupError.self) { try read(jwks(key)) }
        #expect(try read(jwks(key, TestKey.es256().jwk())).keys.count == 1)
    }

    @Test func `Small RSA keys are left out`() throws {
        let small = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
        #expect(throws: SetupError.self) { try read(jwks(try TestKey.rsa("RS256", small).jwk())) }
    }

    @Test(arguments: [("HS384", 47), ("HS512", 63), ("HS256", 31)])
    func `Secrets shorter than the hash`(algorithm: String, count: Int) {
        let key = TestKey.hmac(algorithm, secret: Array(repeating: 1, count: count))
        #expect(throws: SetupError.self) { try read(jwks(key.jwk())) }
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[],"keys":[]}"#])
    func `What is no key set`(text: String) {
        #expect(throws: SetupError.self) { try read(text) }
    }

    @Test func `Private keys are read as public ones`() throws {
        #expect(try read(jwks(TestKey.es256().jwk(#""d":"AAAA""#))).keys.count == 1)
    }

    @Test func `Algorithms are those of the key`() throws {
        let set = try read(jwks(try TestKey.rsa("RS256").jwk(), try TestKey.rsa("PS256").jwk(#""alg":"PS384""#)))
        #expect(set.keys[0].algorithms == [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        #expect(set.keys[1].algorithms == [.ps384])
    }
}
