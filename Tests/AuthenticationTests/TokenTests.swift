import Domain
import Foundations
import Testing

@testable import Authentication

struct TokenTests {
    @Test(arguments: SignatureAlgorithm.allCases.map(\.rawValue))
    func `Tokens of every algorithm are accepted`(algorithm: String) async throws {
        let key = try TestKey.make(algorithm)
        try await withAuthenticator(jwks: jwks(key.jwk(#""kid":"a""#))) { bench in
            let token = try key.token(header: #"{"alg":"\#(algorithm)","kid":"a","typ":"JWT"}"#, claims: claims())
            try await bench.expectUser("Bearer \(token)", "alice")
            try await bench.expectUser("bearer  \(token)", "alice")
            try await bench.expectUser("Bearer \(key.token(claims: claims()))", "alice")
        }
    }

    @Test(arguments: ["a\u{0}b", "", String(repeating: "x", count: 1025)])
    func `Subjects that name no user`(name: String) async throws {
        let key = TestKey.edDSA()
        var json = JSONWriter()
        json.open("{")
        json.member("sub", name)
        json.member("exp", Timestamp.claim(600))
        json.close("}")
        try await withAuthenticator(jwks: jwks(key.jwk())) { [json] bench in
            try await bench.expectRefusal("Bearer \(key.token(claims: json.text))", .invalid)
        }
    }

    @Test func `Names are taken byte for byte`() async throws {
        let key = TestKey.edDSA()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            for name in ["e\u{301}", "\u{e9}"] {
                let token = try key.token(claims: #"{"sub":"\#(name)","exp":\#(Timestamp.claim(60))}"#)
                let found = try await bench.user("Bearer \(token)")
                #expect(Array(found.utf8) == Array(name.utf8))
            }
        }
    }

    /// The moment of refusal is exactly 30 s past `exp`, and of acceptance 30 s before `nbf`.
    @Test(
        arguments: [
            (#""exp":\#(Timestamp.claim(-29))"#, nil), (#""exp":\#(Timestamp.claim(-30)).001"#, nil),
            (#""exp":\#(Timestamp.claim(-30))"#, .expired), (#""exp":\#(Timestamp.claim(-31))"#, .expired),
            (#""exp":1.7999999705e9"#, nil), (#""exp":1799999969.5"#, .expired), (#""exp":-1"#, .expired),
            (#""exp":\#(Timestamp.claim(60)),"nbf":\#(Timestamp.claim(30))"#, nil),
            (#""exp":\#(Timestamp.claim(60)),"nbf":\#(Timestamp.claim(31))"#, .invalid),
            (#""exp":\#(Timestamp.claim(60)),"nbf":"\#(Timestamp.claim(0))""#, .malformed),
            (#""exp":"\#(Timestamp.claim(60))""#, .malformed), (#""exp":null"#, .invalid),
            (#""exp":1e300"#, .malformed),
            (#""iat":1"#, .invalid), (#""exp":\#(Timestamp.claim(60)),"iat":true"#, .malformed),
        ] as [(String, AuthenticationError.Code?)])
    func `The times of a token are honoured`(times: String, expected: AuthenticationError.Code?) async throws {
        let key = TestKey.edDSA()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            let token = try key.token(claims: #"{"sub":"alice",\#(times)}"#)
            #expect(await bench.refusal("Bearer \(token)")?.code == expected)
        }
    }

    @Test(
        arguments: [
            (#""iss":"https://id","aud":"push""#, nil), (#""iss":"https://id","aud":["x","push"]"#, nil),
            (#""iss":"https://ID","aud":"push""#, .invalid), (#""aud":"push""#, .invalid),
            (#""iss":"https://id""#, .invalid),
            (#""iss":"https://id","aud":"pushy""#, .invalid), (#""iss":"https://id","aud":[]"#, .invalid),
            (#""iss":"https://id","aud":["push",7]"#, .malformed),
            (#""iss":["https://id"],"aud":"push""#, .malformed),
            (#""iss":"https://id","aud":{"push":1}"#, .malformed),
        ] as [(String, AuthenticationError.Code?)])
    func `Issuer and audience must be those of the settings`(members: String, expected: AuthenticationError.Code?)
        async throws
    {
        let key = TestKey.edDSA()
        try await withAuthenticator(
            jwks: jwks(key.jwk()),
            configure: { configuration, _ in (configuration.issuer, configuration.audience) = ("https://id", "push") }
        ) { bench in
            try await bench.expectRefusal("Bearer \(key.token(claims: claims(members)))", expected)
        }
    }

    @Test func `The key ID is matched`() async throws {
        let (a, b) = (TestKey.es256(), TestKey.es256())
        try await withAuthenticator(jwks: jwks(a.jwk(#""kid":"a""#), b.jwk(#""kid":"b""#))) { bench in
            for (kid, isGood) in [("a", true), ("b", false), ("c", false), ("", false)] {
                let token = try a.token(header: #"{"alg":"ES256","kid":"\#(kid)"}"#, claims: claims())
                #expect(await bench.refusal("Bearer \(token)")?.code == (isGood ? nil : .invalid))
            }
            try await bench.expectUser("Bearer \(b.token(claims: claims()))", "alice")
        }
    }

    @Test func `Challenges say what is wrong`() async throws {
        let key = TestKey.edDSA()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            for missing in [nil, "", "Digest abc"] {
                let error = await bench.refusal(missing)
                #expect(error?.code == .missing)
                #expect(error?.challenges == [#"Bearer realm="securepush""#])
            }
            let expired = await bench.refusal("Bearer \(try key.token(claims: claims(expiresIn: -60)))")
            #expect(
                expired?.challenges == [
                    #"Bearer realm="securepush", error="invalid_token", error_description="The token has expired""#
                ])
            #expect(await bench.refusal(basic("alice", "secret"))?.code == .missing)
        }
    }

    @Test func `Nothing configured lets nobody in`() async throws {
        try await withAuthenticator(jwks: nil) { bench in
            let token = try TestKey.es256().token(claims: claims())
            #expect(await bench.refusal("Bearer \(token)")?.code == .invalid)
        }
        #expect(!UserAuthenticationConfiguration().isUsable)
    }
}
