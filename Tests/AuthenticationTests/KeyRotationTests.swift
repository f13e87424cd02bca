import Domain
import Foundation
import Hummingbird
import TestSupport
import Testing

@testable import Authentication

/// Keys at `AUTH_JWKS_URL` that are replaced or withdrawn.
struct KeyRotationTests {
    private func withBench(_ server: KeyServer, _ body: (AuthenticatorBench) async throws -> Void) async throws {
        try await server.withURL { url in
            try await withAuthenticator(
                jwks: nil, configure: { configuration, _ in configuration.jwksURL = url }, body)
        }
    }

    private func token(_ key: TestKey, _ keyID: String?, _ more: String = "") throws -> String {
        let header = keyID.map { #"{"alg":"\#(key.algorithm)","kid":"\#($0)"}"# } ?? #"{"alg":"\#(key.algorithm)"}"#
        return "Bearer " + (try key.token(header: header, claims: claims(more)))
    }

    /// Case 27: before, the tokens of the new key were refused for up to five minutes. The algorithms before and after,
    /// and the `kid` of keys and tokens.
    @Test(arguments: [
        ("ES256", "ES256", "a"), ("ES256", "ES256", nil), ("ES256", "ES384", "a"), ("EdDSA", "ES256", "a"),
        ("HS256", "HS512", "a"), ("ES512", "EdDSA", nil),
    ])
    func `A key that replaces another of its ID is fetched`(old: String, new: String, keyID: String?) async throws {
        // Secrets of a set differ in their length, too.
        let before = old == "HS256" ? TestKey.hmac(old, secret: Array(repeating: 9, count: 32)) : try TestKey.make(old)
        let after = try TestKey.make(new)
        let member = keyID.map { #""kid":"\#($0)""# } ?? ""
        let server = KeyServer(jwks(before.jwk(member)))
        try await withBench(server) { bench in
            try await bench.expectUser(token(before, keyID), "alice")
            server.set(jwks(after.jwk(member)))
            // Limited as for an unknown ID.
            try await bench.expectRefusal(token(after, keyID), .invalid)
            #expect(server.requestCount == 1)
            bench.clock.advance(by: .seconds(10))
            try await bench.expectUser(token(after, keyID, #""n":1"#), "alice")
            try await bench.expectRefusal(token(before, keyID), .invalid)
            #expect(server.requestCount == 2)
        }
    }

    @Test func `Forgeries cause one fetch in ten seconds`() async throws {
        let (key, forger) = (TestKey.es256(), TestKey.es256())
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await withBench(server) { bench in
            try await bench.expectUser(token(key, "a"), "alice")
            for round in 1...3 {
                bench.clock.advance(by: .seconds(10))
                for keyID in ["a", "b", nil] {
                    for number in 0..<10 {
                        try await bench.expectRefusal(token(forger, keyID, #""n":\#(number)"#), .invalid)
                    }
                }
                #expect(server.requestCount == 1 + round)
            }
        }
    }

    /// A token of ours with a wrong signature asks the issuer for nothing.
    @Test func `Our own key is not looked for at the URL`() async throws {
        let server = KeyServer(jwks(TestKey.es256().jwk(#""kid":"a""#)))
        try await server.withURL { url in
            try await withAuthenticator(
                jwks: nil,
                configure: { configuration, folder in
                    try TokenSigningKey.make(at: folder + "/key.pem")
                    configuration.signingKeyFile = folder + "/key.pem"
                    configuration.jwksURL = url
                }
            ) { bench in
                let issuer = try #require(try TokenIssuer(configuration: bench.configuration))
                let token = try issuer.issue(to: UserName("alice")!, now: bench.clock.now).token
                try await bench.expectUser("Bearer \(token)", "alice")
                let forged = try TestKey.es256().token(
                    header: #"{"alg":"ES256","kid":"\#(try TokenSigningKey(path: bench.folder + "/key.pem").keyID)"}"#,
                    claims: claims())
                try await bench.expectRefusal("Bearer \(forged)", .invalid)
                #expect(server.requestCount == 0)
            }
        }
    }

    /// Case 28: before, the first token after a rest was verified with the keys of before. Of a token that was accepted
    /// before, and of a new one.
    @Test(arguments: [300, 310, 3600, 86_399], [true, false])
    func `A withdrawn key ends also after a rest`(seconds: Int, isRemembered: Bool) async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        let server = KeyServer(jwks(old.jwk(#""kid":"old""#)))
        try await withBench(server) { bench in
            let long =
                try "Bearer "
                + old.token(
                    header: #"{"alg":"ES256","kid":"old"}"#, claims: claims(#""n":0"#, expiresIn: 1_000_000))
            let other =
                try "Bearer "
                + old.token(
                    header: #"{"alg":"ES256","kid":"old"}"#, claims: claims(#""n":1"#, expiresIn: 1_000_000))
            try await bench.expectUser(long, "alice")
            server.set(jwks(new.jwk(#""kid":"new""#)))
            bench.clock.advance(by: .seconds(seconds))
            #expect(bench.authenticator.remembered(authorization: long) == nil)
            try await bench.expectRefusal(isRemembered ? long : other, .invalid)
            #expect(server.requestCount == 2)
        }
    }

    @Test func `A failure long ago is no reason to use old keys`() async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        let server = KeyServer(jwks(old.jwk(#""kid":"old""#)))
        try await withBench(server) { bench in
            let header =
                try "Bearer "
                + old.token(
                    header: #"{"alg":"ES256","kid":"old"}"#, claims: claims(expiresIn: 1_000_000))
            try await bench.expectUser(header, "alice")
            server.set("", status: .serviceUnavailable)
            bench.clock.advance(by: .seconds(310))
            try await bench.expectUser(header, "alice")
            #expect(server.requestCount == 2)
            server.set(jwks(new.jwk(#""kid":"new""#)))
            bench.clock.advance(by: .seconds(31))
            try await bench.expectRefusal(header, .invalid)
            #expect(server.requestCount == 3)
        }
    }

    /// While tokens come in, none of them waits for a fetch.
    @Test func `Keys are fetched ahead of their end`() async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await withBench(server) { bench in
            let header = try token(key, "a")
            try await bench.expectUser(header, "alice")
            bench.clock.advance(by: .seconds(240))
            #expect(bench.authenticator.remembered(authorization: header)?.text == "alice")
            try await expectEventually { server.requestCount == 2 }
        }
    }
}
