import Crypto
import CryptoExtras
import Domain
import Foundation
import Foundations
import Testing

@testable import Authentication

/// The attacks of RFC 8725, section 2, and their kin.
struct TokenAttackTests {
    private func expectRefusal(_ token: String, _ jwks: String, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        try await withAuthenticator(jwks: jwks) { bench in
            let error = await bench.refusal("Bearer \(token)")
            #expect(error?.code == .malformed || error?.code == .invalid, sourceLocation: sourceLocation)
            #expect(error?.challenges.first?.contains("invalid_token") == true, sourceLocation: sourceLocation)
            #expect(error.map { token.count < 9 || !"\($0)".contains(token) } == true, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: ["none", "None", "NONE", "nOnE", "", "HS257", "ES256K", "RSA1_5", "dir"])
    func `A token without a signature is refused, however it spells it`(name: String) async throws {
        let key = TestKey.es256()
        let header = #"{"alg":"\#(name)"}"#
        let signed = "\(Base64.encode(header.utf8, .url)).\(Base64.encode(claims().utf8, .url))"
        try await expectRefusal(signed + ".", jwks(key.jwk()))
        try await expectRefusal(signed, jwks(key.jwk()))
        try await expectRefusal(try key.token(header: header, claims: claims()), jwks(key.jwk()))
    }

    @Test func `A public key is no secret of an HMAC`() async throws {
        let key = try TestKey.rsa("RS256")
        let publicKey = try TestKey.rsaKey.get().publicKey
        let spellings = [
            publicKey.pemRepresentation, publicKey.pemRepresentation + "\n", publicKey.pkcs1PEMRepresentation,
            key.jwk(),
            jwks(key.jwk()),
        ]
        for spelling in spellings.map({ Array($0.utf8) }) + [Array(publicKey.derRepresentation)] {
            for algorithm in ["HS256", "HS384", "HS512"] {
                let forged = try TestKey.hmac(algorithm, secret: spelling).token(claims: claims())
                try await expectRefusal(forged, jwks(key.jwk()))
                try await expectRefusal(forged, jwks(key.jwk(), TestKey.hmac().jwk()))
            }
        }
    }

    @Test func `An algorithm of another kind of key is refused`() async throws {
        for (key, name) in [
            (TestKey.es256(), "ES384"), (TestKey.es256(), "EdDSA"), (TestKey.es384(), "ES256"),
            (TestKey.edDSA(), "ES256"),
            (TestKey.hmac(), "HS512"), (try TestKey.rsa("RS256"), "PS256"), (try TestKey.rsa("PS256"), "RS256"),
        ] {
            let token = try key.token(header: #"{"alg":"\#(name)"}"#, claims: claims())
            try await expectRefusal(token, jwks(key.jwk()))
        }
    }

    @Test func `An algorithm that the key is not for is refused`() async throws {
        let key = try TestKey.rsa("RS512")
        try await expectRefusal(try key.token(claims: claims()), jwks(key.jwk(#""alg":"RS256""#)))
    }

    @Test(arguments: [
        #"{"alg":"ES256","crit":["exp"],"exp":1}"#, #"{"alg":"ES256","crit":[]}"#, #"{"alg":"ES256","crit":[null]}"#,
        #"{"alg":"ES256","crit":["b64"],"b64":false}"#, #"{"alg":"ES256","alg":"ES256"}"#,
        #"{"alg":"none","alg":"ES256"}"#, #"{"alg":"ES256","kid":7}"#, #"{"alg":["ES256"]}"#, #"{}"#,
        #"{"alg":"ES256","typ":"logout+jwt"}"#, #"{"alg":"ES256","typ":7}"#, #"["ES256"]"#, #"{"alg":"ES256"} x"#,
        #"{"alg":"es256"}"#, #"{"alg":"ES256\u0000"}"#,
    ])
    func `A token with another header is refused`(header: String) async throws {
        let key = TestKey.es256()
        try await expectRefusal(try key.token(header: header, claims: claims()), jwks(key.jwk()))
    }

    /// A key that the token brings along is never used, nor is a URL in it fetched.
    @Test func `A key that the token brings is not used`() async throws {
        let (trusted, own) = (TestKey.es256(), TestKey.es256())
        for member in [#""jwk":\#(own.jwk())"#, #""jku":"http://127.0.0.1:1/keys""#, #""x5u":"http://127.0.0.1:1/""#] {
            let token = try own.token(header: #"{"alg":"ES256",\#(member)}"#, claims: claims())
            try await expectRefusal(token, jwks(trusted.jwk()))
        }
    }

    @Test(arguments: [
        #"{"sub":7,"exp":1800000600}"#, #"{"sub":"","exp":1800000600}"#, #"{"sub":null,"exp":1800000600}"#,
        #"{"exp":1800000600}"#, #"{"sub":["alice"],"exp":1800000600}"#, #"{"sub":"alice"}"#,
        #"{"sub":"bob","sub":"alice","exp":1800000600}"#, #"{"sub":"alice","exp":1,"exp":1800000600}"#,
        #"{"sub":"alice","\u0073ub":"bob","exp":1800000600}"#, #"{"sub":"alice","exp":"1800000600"}"#,
        #"{"sub":"alice","exp":true}"#, #"["alice"]"#, #""alice""#, "", "{", #"{"sub":"alice","exp":1800000600}}"#,
    ])
    func `A token with bad claims is refused`(claims: String) async throws {
        let key = TestKey.es256()
        try await expectRefusal(try key.token(claims: claims), jwks(key.jwk()))
    }

    @Test func `Other shapes than a token's are refused`() async throws {
        let key = TestKey.es256()
        let token = try key.token(claims: claims())
        let parts = token.split(separator: ".")
        let (header, body, signature) = (parts[0], parts[1], parts[2])
        for changed in [
            "\(header).\(body)", "\(header).\(body).", "\(header)..\(signature)", ".\(body).\(signature)", "..", ".",
            "a",
            "\(token).", ".\(token)", "\(token).\(signature)", "\(token)=", "\(header)=.\(body).\(signature)",
            "\(header).\(body).\(signature.dropLast())", "\(header).\(body).\(signature)AA",
            "\(header).\(body).\(signature)A",
            "\(header).\(body).\(signature.dropLast(2))", "\(header) .\(body).\(signature)",
            "\(header).\(body).\(Base64.encode(Array(repeating: 0, count: 64), .url))",
            "\(body).\(header).\(signature)", token.lowercased(),
        ] { try await expectRefusal(changed, jwks(key.jwk())) }
    }

    /// The last digit of a signature of 64 bytes has four bits that say nothing: another digit is another token.
    @Test func `Digits that say nothing are refused`() async throws {
        let key = TestKey.es256()
        let token = try key.token(claims: claims())
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let last = try #require(token.last)
        let value = try #require(digits.firstIndex(of: last))
        #expect(value % 16 == 0)
        for other in 1..<16 {
            try await expectRefusal(token.dropLast() + String(digits[value + other]), jwks(key.jwk()))
        }
    }

    /// Another log-in would give another token of this length, so it is no 401.
    @Test(arguments: [16_385, 20_000, 60_000]) func `An oversized token is refused`(length: Int) async throws {
        let key = TestKey.hmac()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            let padding = String(repeating: "x", count: length)
            let token = try key.token(claims: claims(#""pad":"\#(padding)""#)).prefix(length)
            let error = await bench.refusal("Bearer \(token)")
            #expect(error?.code == .tooLong && error?.challenges == [])
        }
    }

    @Test func `The claims of another token are refused`() async throws {
        let key = TestKey.es256()
        let mine = try key.token(claims: claims()).split(separator: ".")
        let other = Base64.encode(claims().replacingOccurrences(of: "alice", with: "bob").utf8, .url)
        try await expectRefusal("\(mine[0]).\(other).\(mine[2])", jwks(key.jwk()))
    }
}
