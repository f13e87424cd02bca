import Domain
import Foundation
import TestSupport
import Testing

@testable import Authentication

/// Why tokens are refused: for the log, and the same for callers.
struct TokenRefusalTests {
    private static let unknown = "The token's signature is not valid"

    /// The header, the claims, whether another key signs, the reason, the `kid` in the log.
    private static let cases: [(header: String, claims: String, isForged: Bool, reason: String, kid: String?)] = [
        (#"{"alg":"ES256","kid":"other"}"#, "", false, "No key has the kid", "other"),
        (#"{"alg":"ES256","kid":"A"}"#, "", false, "No key has the kid", "A"),
        (#"{"alg":"HS256","kid":"a"}"#, "", false, "The key of the kid is not for the token's algorithm", "a"),
        (#"{"alg":"RS512","kid":"a"}"#, "", false, "The key of the kid is not for the token's algorithm", "a"),
        (#"{"alg":"RS256"}"#, "", false, "The token has no kid, and no key is for its algorithm", nil),
        (#"{"alg":"ES256","kid":"a"}"#, "", true, "The signature is not that of the key", "a"),
        (#"{"alg":"ES256"}"#, "", true, "The signature is not that of the key", nil),
        (#"{"alg":"none","kid":"a"}"#, "", false, "The token's algorithm is not accepted.", "a"),
        (#"{"alg":"ES256","kid":"a"}"#, #""nbf":9999999999"#, false, "The token is not valid yet.", "a"),
        (#"{"alg":"ES256","kid":"a"}"#, #""nbf":"x""#, false, "A date in the token is not a number of seconds.", "a"),
        (#"{"alg":"ES256","kid":7}"#, "", false, "The token is malformed.", nil),
        (#"{"alg":"ES256","typ":"logout+jwt","kid":"a"}"#, "", false, "The token is of another type.", "a"),
    ]

    @Test(arguments: cases.indices) func `The reason and the key are logged`(_ index: Int) async throws {
        let (header, more, isForged, reason, kid) = Self.cases[index]
        let key = TestKey.es256()
        try await withAuthenticator(jwks: jwks(key.jwk(#""kid":"a""#))) { bench in
            let token = try (isForged ? TestKey.es256() : key).token(header: header, claims: claims(more))
            let error = try #require(await bench.refusal("Bearer \(token)"))
            #expect(error.code == .invalid || error.code == .malformed)
            let end = kid.map { " kid=\($0) reason=\(reason)" } ?? " reason=\(reason)"
            #expect(bench.lines.all.filter { $0.contains("refused") } == ["info A token was refused\(end)"])
            // Which keys there are is not for callers.
            let isAboutKeys = !reason.hasSuffix(".")
            #expect(!isAboutKeys || error.message == Self.unknown + ".")
            // Nothing else of the token.
            for part in token.split(separator: ".") { #expect(!bench.lines.all.contains { $0.contains(part) }) }
            #expect(!bench.lines.all.contains { $0.contains("alice") })
        }
    }

    @Test func `Other refusals are logged too`() async throws {
        let key = TestKey.es256()
        try await withAuthenticator(
            jwks: jwks(key.jwk()),
            configure: { configuration, _ in (configuration.issuer, configuration.audience) = ("i", "a") }
        ) { bench in
            let tokens = try [
                key.token(claims: claims(#""iss":"i","aud":"a""#, expiresIn: -60)),
                key.token(claims: claims(#""iss":"x","aud":"a""#)), key.token(claims: claims(#""iss":"i","aud":"x""#)),
                "a.b", String(repeating: "a", count: 16_385),
            ]
            for token in tokens { #expect(await bench.refusal("Bearer \(token)") != nil) }
            let reasons = bench.lines.all.filter { $0.contains("A token was refused") }
            #expect(reasons.count == tokens.count, "\(reasons)")
            for word in ["expired", "issuer", "audience", "malformed", "16 KiB"] {
                #expect(reasons.contains { $0.contains(word) }, "\(word)")
            }
            // A good token has no line, and neither has a wrong password.
            let good = try key.token(claims: claims(#""iss":"i","aud":["b","a"]"#))
            try await bench.expectUser("Bearer \(good)", "alice")
            #expect(bench.lines.all.count { $0.contains("A token was refused") } == tokens.count)
        }
    }

    @Test func `A flood of one reason does not hide another`() async throws {
        let key = TestKey.es256()
        try await withAuthenticator(jwks: jwks(key.jwk(#""kid":"a""#))) { bench in
            for number in 0..<500 {
                let header = #"{"alg":"ES256","kid":"flood \#(number)"}"#
                let token = try key.token(header: header, claims: claims())
                _ = await bench.refusal("Bearer \(token)")
            }
            let forged = try TestKey.es256().token(header: #"{"alg":"ES256","kid":"a"}"#, claims: claims())
            _ = await bench.refusal("Bearer \(forged)")
            #expect(bench.lines.all.count { $0.contains("flood") } == TokenRefusalLog.burst)
            #expect(bench.lines.all.count { $0.contains("not that of the key") } == 1)
            bench.clock.advance(by: TokenRefusalLog.interval)
            for _ in 0..<5 {
                let header = #"{"alg":"ES256","kid":"later"}"#
                let token = try key.token(header: header, claims: claims())
                _ = await bench.refusal("Bearer \(token)")
            }
            let later = bench.lines.all.filter { $0.contains("later") }
            #expect(later == ["info A token was refused kid=later not_logged=490 reason=No key has the kid"])
        }
    }

    @Test(arguments: [
        ("key-1", "key-1"), ("a b", "a b"), ("a\n{\"level\":\"info\"}", #"a\n{"level":"info"}"#),
        ("\u{1B}[2J", #"\u{1B}[2J"#),
        ("\u{202E}x", #"\u{202E}x"#), (#"a\b"#, #"a\\b"#), ("é", #"\u{00E9}"#),
        ("\r\0\u{85}", #"\r\0\u{0085}"#), ("", ""),
        (String(repeating: "k", count: 64), String(repeating: "k", count: 64)),
        (String(repeating: "k", count: 9000), String(repeating: "k", count: 64) + "…"),
    ])
    func `A key ID is shown without its tricks`(keyID: String, shown: String) {
        #expect(TokenRefusalLog.shown(keyID).utf8.elementsEqual(shown.utf8))
    }

    /// Members that are null count as absent.
    @Test(arguments: [
        (#"{"alg":"ES256","kid":null}"#, ""), (#"{"alg":"ES256","typ":null,"cty":null}"#, ""),
        (#"{"alg":"ES256","crit":null}"#, ""), (#"{"alg":"ES256"}"#, #""nbf":null"#),
        (#"{"alg":"ES256"}"#, #""iat":null,"jti":null"#), (#"{"alg":"ES256"}"#, #""iss":null,"aud":null"#),
        (#"{"alg":"ES256"}"#, #""securepush_entry":null,"scope":null"#),
    ])
    func `Null counts as absent`(header: String, more: String) async throws {
        let key = TestKey.es256()
        let members = #""kid":null,"use":null,"alg":null,"key_ops":null,"x5c":null"#
        try await withAuthenticator(jwks: jwks(key.jwk(members))) { bench in
            try await bench.expectUser("Bearer \(key.token(header: header, claims: claims(more)))", "alice")
        }
    }

    @Test(arguments: [#""iss":null"#, #""aud":null"#, #""iss":"i","aud":[null]"#, #""iss":null,"aud":"a""#])
    func `What is required must not be null`(more: String) async throws {
        let key = TestKey.es256()
        try await withAuthenticator(
            jwks: jwks(key.jwk()),
            configure: { configuration, _ in (configuration.issuer, configuration.audience) = ("i", "a") }
        ) { bench in
            let token = try key.token(claims: claims(more))
            #expect(await bench.refusal("Bearer \(token)") != nil)
        }
    }

    /// Case 32 again: some providers write groups as the members of an object.
    @Test(arguments: [300, 600]) func `Groups may be members`(groups: Int) async throws {
        let key = TestKey.es256()
        let members = (0..<groups).map { #""group-\#($0)":1"# }.joined(separator: ",")
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            let good = try key.token(claims: claims(#""groups":{\#(members)}"#))
            try await bench.expectUser("Bearer \(good)", "alice")
            let repeated = try key.token(claims: claims(#""groups":{\#(members),"group-7":2}"#))
            try await bench.expectRefusal("Bearer \(repeated)", .malformed)
        }
    }

    /// Case 32: a user of some hundred groups. As objects, and with long names too.
    @Test(arguments: [200, 400]) func `A long token is accepted`(groups: Int) async throws {
        let key = TestKey.es256()
        let names = (0..<groups).map { #""group-\#($0)-of-the-company""# }.joined(separator: ",")
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            var token = try key.token(claims: claims(#""groups":[\#(names)]"#))
            #expect((8192...JSONWebToken.maxLength).contains(token.utf8.count) || groups == 200)
            try await bench.expectUser("Bearer \(token)", "alice")
            // To the last byte.
            let room = (JSONWebToken.maxLength - token.utf8.count) * 3 / 4 - 9
            token = try key.token(
                claims: claims(#""groups":[\#(names)],"p":"\#(String(repeating: "x", count: room))""#))
            #expect((16_376...16_384).contains(token.utf8.count))
            try await bench.expectUser("Bearer \(token)", "alice")
        }
    }
}
