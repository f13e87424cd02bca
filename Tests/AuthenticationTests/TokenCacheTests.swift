import Domain
import TestSupport
import Testing

@testable import Authentication

struct TokenCacheTests {
    @Test func `Expiry is honoured on every use`() async throws {
        let key = TestKey.es256()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            let header = "Bearer \(try key.token(claims: claims(expiresIn: 60)))"
            try await bench.expectUser(header, "alice")
            bench.clock.advance(by: .milliseconds(89_999))
            try await bench.expectUser(header, "alice")
            bench.clock.advance(by: .milliseconds(1))
            #expect(await bench.refusal(header)?.code == .expired)
        }
    }

    @Test func `A key that is gone takes its tokens along`() async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        try await withAuthenticator(jwks: jwks(old.jwk())) { bench in
            let header = "Bearer \(try old.token(claims: claims()))"
            try await bench.expectUser(header, "alice")
            try write(jwks(new.jwk()), to: bench.keySetFile)
            bench.clock.advance(by: .seconds(2))
            #expect(await bench.refusal(header)?.code == .invalid)
            try await bench.expectUser("Bearer \(new.token(claims: claims()))", "alice")
        }
    }

    @Test func `A new key is known at once`() async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        try await withAuthenticator(jwks: jwks(old.jwk())) { bench in
            try write(jwks(old.jwk(), new.jwk()), to: bench.keySetFile)
            try await bench.expectUser("Bearer \(new.token(claims: claims()))", "alice")
        }
    }

    @Test func `An unusable file keeps the old keys`() async throws {
        let key = TestKey.es256()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            try write("{", to: bench.keySetFile)
            bench.clock.advance(by: .seconds(2))
            try await bench.expectUser("Bearer \(key.token(claims: claims()))", "alice")
        }
    }

    @Test func `Refused tokens are not remembered`() async throws {
        let (known, unknown) = (TestKey.es256(), TestKey.es256())
        try await withAuthenticator(jwks: jwks(known.jwk())) { bench in
            let header = "Bearer \(try unknown.token(claims: claims()))"
            #expect(await bench.refusal(header)?.code == .invalid)
            try write(jwks(unknown.jwk()), to: bench.keySetFile)
            bench.clock.advance(by: .seconds(2))
            try await bench.expectUser(header, "alice")
        }
    }
}
