import Crypto
import Domain
import Foundation
import Foundations
import JWTKit
import Logging
import TestSupport
import Testing

@testable import Authentication

struct TokenIssuerTests {
    /// What another implementation reads of our tokens.
    struct Payload: JWTPayload {
        let sub: String
        let exp: Int
        let iat: Int
        let jti: String
        let iss: String?
        let aud: String?

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// The first as `openssl ecparam -name prime256v1 -genkey` writes it, the second as `openssl pkey` does.
    @Test func `A key is read in SEC1 and in PKCS number 8`() throws {
        let sec1 = """
            -----BEGIN EC PARAMETERS-----
            BggqhkjOPQMBBw==
            -----END EC PARAMETERS-----
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEINVYpgf4qqkbZDCOYtdNCwMi12JDa0WgEpSqhtO5qxxzoAoGCCqGSM49
            AwEHoUQDQgAEePvcmi9oZD1kRiRMQscdYj7YVgDf5eqo8fxOZ/Srr0+Jmpq8e/MB
            YT+d2WLdqw4/IVM2eypRGtnWn7589EcFcA==
            -----END EC PRIVATE KEY-----
            """
        let pkcs8 = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1VimB/iqqRtkMI5i
            100LAyLXYkNrRaASlKqG07mrHHOhRANCAAR4+9yaL2hkPWRGJExCxx1iPthWAN/l
            6qjx/E5n9KuvT4mamrx78wFhP53ZYt2rDj8hUzZ7KlEa2dafvnz0RwVw
            -----END PRIVATE KEY-----
            """
        #expect(try TokenSigningKey(pem: sec1).keyID == TokenSigningKey(pem: pkcs8).keyID)
        for text in [
            sec1.replacing("EC PRIVATE KEY-----\nMHc", with: "EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMHc"),
            pkcs8.replacing("PRIVATE", with: "ENCRYPTED PRIVATE"),
        ] {
            let error = #expect(throws: SetupError.self) { try TokenSigningKey(pem: text) }
            #expect(error?.message.contains("is encrypted: decrypt it") == true)
        }
        let other = #expect(throws: SetupError.self) { try TokenSigningKey(pem: pkcs8 + "\n" + sec1) }
        #expect(other?.message == "not a P-256 private key in PEM (PKCS#8 or SEC1)")
    }

    private func withIssuer(
        _ body: (TokenIssuer, TokenSigningKey, AuthenticatorBench) async throws -> Void
    ) async throws {
        let kept = KeptConfiguration()
        try await withAuthenticator(
            jwks: nil,
            configure: { configuration, folder in
                configuration.signingKeyFile = folder + "/key.pem"
                (configuration.issuer, configuration.audience) = ("https://push", "devices")
                configuration.tokenTTL = .seconds(120)
                kept.key = try TokenSigningKey.make(at: folder + "/key.pem")
                kept.configuration = configuration
            }
        ) { bench in
            let issuer = try #require(try TokenIssuer(configuration: kept.configuration))
            try await body(issuer, try #require(kept.key), bench)
        }
    }

    private final class KeptConfiguration {
        var configuration = UserAuthenticationConfiguration()
        var key: TokenSigningKey?
    }

    @Test func `Issued tokens are accepted until they expire`() async throws {
        try await withIssuer { issuer, key, bench in
            let user = try #require(UserName("zoë \"quoted\" \\"))
            let issued = try issuer.issue(to: user, now: bench.clock.now)
            #expect(issued.expiresIn == 120)
            #expect(try await bench.authenticator.authenticate(authorization: "Bearer \(issued.token)") == user)
            #expect(try issuer.issue(to: user, now: bench.clock.now).token != issued.token)
            bench.clock.advance(by: .seconds(150))
            #expect(await bench.refusal("Bearer \(issued.token)")?.code == .expired)
        }
    }

    @Test func `Another implementation accepts what is issued`() async throws {
        try await withIssuer { issuer, key, bench in
            let issued = try issuer.issue(to: try #require(UserName("alice")), now: bench.clock.now)
            let keys = try await JWTKeyCollection().add(jwksJSON: key.publicJWKS)
            let payload = try await keys.verify(issued.token, as: Payload.self)
            #expect(payload.sub == "alice" && payload.iss == "https://push" && payload.aud == "devices")
            #expect(payload.exp == Int(Timestamp.claim(120)) && payload.iat == Int(Timestamp.claim(0)))
            #expect(payload.jti.utf8.count == 22)
        }
    }

    @Test func `A token can expire at a given time`() async throws {
        try await withIssuer { _, key, bench in
            let user = try #require(UserName("alice"))
            let times: [(Duration, Bool)] = [(.seconds(10), true), (.seconds(-31), false)]
            for (offset, isGood) in times {
                let token = try key.sign(
                    TokenClaims(
                        subject: user, expiresAt: bench.clock.now + offset, issuer: "https://push",
                        audiences: ["x", "devices"]))
                #expect(await bench.refusal("Bearer \(token)")?.code == (isGood ? nil : .expired))
            }
        }
    }

    @Test func `A replaced key is used and the old one forgotten`() async throws {
        try await withIssuer { _, key, bench in
            let user = try #require(UserName("alice"))
            let claims = TokenClaims(
                subject: user, expiresAt: bench.clock.now + .seconds(60), issuer: "https://push",
                audiences: ["devices"])
            let old = "Bearer \(try key.sign(claims))"
            try await bench.expectUser(old, "alice")
            try FileManager.default.removeItem(atPath: bench.folder + "/key.pem")
            let new = try TokenSigningKey.make(at: bench.folder + "/key.pem")
            try await bench.expectUser("Bearer \(new.sign(claims))", "alice")
            bench.clock.advance(by: .seconds(2))
            #expect(await bench.refusal(old)?.code == .invalid)
        }
    }

    /// Finding 10: before, a token outlived its user's removal and password.
    @Test(arguments: ["", "alice NEW\n", "garbage"])
    func `A token ends with the entry it was issued for`(file: String) async throws {
        let hash = { (password: String) in
            try ScryptHash(password: Array(password.utf8), parameters: .init(logCost: 4, blockSize: 1)).text
        }
        let alice = try #require(UserName("alice"))
        try await withAuthenticator(
            jwks: nil,
            configure: { configuration, folder in
                configuration.signingKeyFile = folder + "/key.pem"
                configuration.usersFile = folder + "/users"
                try TokenSigningKey.make(at: folder + "/key.pem")
                try write("alice \(hash("old"))\nbob \(hash("b"))\n", to: folder + "/users")
            }
        ) { bench in
            let issuer = try #require(try TokenIssuer(configuration: bench.configuration))
            let token = "Bearer " + (try issuer.issue(to: alice, now: bench.clock.now).token)
            try await bench.expectUser(token, "alice")
            try write(file.replacing("NEW", with: try hash("new")), to: bench.folder + "/users")
            bench.clock.advance(by: file == "garbage" ? .seconds(60) : .seconds(1))
            try await bench.expectRefusal(token, file == "garbage" ? .unavailable : .invalid)
            // A token without the claim, such as an identity provider's, names a user that is in no file.
            let key = try TokenSigningKey(path: bench.folder + "/key.pem")
            let foreign = try key.sign(
                TokenClaims(subject: try #require(UserName("carol")), expiresAt: bench.clock.now + .seconds(60)))
            try await bench.expectUser("Bearer \(foreign)", "carol")
            if file == "garbage" { return }
            guard file.hasPrefix("alice") else {
                #expect(throws: AuthenticationError.self) { try issuer.issue(to: alice, now: bench.clock.now) }
                return
            }
            let new = "Bearer " + (try issuer.issue(to: alice, now: bench.clock.now).token)
            try await bench.expectUser(new, "alice")
        }
    }

    @Test func `The end may be given`() async throws {
        try await withIssuer { issuer, key, bench in
            let user = try #require(UserName("alice"))
            let now = bench.clock.now
            for (seconds, issuedAt) in [(Int64(300), Int64(0)), (-60, -60)] {
                let issued = try issuer.issue(to: user, now: now, expiresAt: now + .seconds(seconds))
                let parts = issued.token.split(separator: ".")
                let bytes = try #require(Base64.decode(parts[1], .url))
                let payload = try JSONDecoder().decode(Payload.self, from: Data(bytes))
                #expect(payload.exp == Int(Timestamp.claim(seconds)) && payload.iat == Int(Timestamp.claim(issuedAt)))
                #expect(issued.expiresIn == max(0, Int(seconds)))
            }
        }
    }

    @Test(arguments: [(nil, nil, 1), ("i", nil, 1), (nil, "a", 1), ("i", "a", 0)] as [(String?, String?, Int)])
    func `A key set for any token is logged`(issuer: String?, audience: String?, count: Int) async throws {
        try await withAuthenticator(
            jwks: jwks(TestKey.es256().jwk()),
            configure: { configuration, _ in (configuration.issuer, configuration.audience) = (issuer, audience) }
        ) { bench in
            #expect(bench.lines.all.count { $0.contains("of any issuer or audience") } == count)
        }
    }

    @Test func `Key files are read`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/key.pem"
            let key = try TokenSigningKey.make(at: path)
            #expect(try mode(of: path) == 0o600)
            #expect(try TokenSigningKey(path: path).keyID == key.keyID)
            let error = #expect(throws: SetupError.self) { try TokenSigningKey.make(at: path) }
            #expect(error?.code == .alreadyExists)
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            #expect(throws: SetupError.self) { try TokenSigningKey(path: folder + "/none") }
            #expect(throws: SetupError.self) { try TokenSigningKey(pem: "no key") }
            let large = P384.Signing.PrivateKey().pemRepresentation
            #expect(throws: SetupError.self) { try TokenSigningKey(pem: large) }
        }
    }

    @Test func `Without a key there is no issuer`() throws {
        #expect(try TokenIssuer(configuration: UserAuthenticationConfiguration()) == nil)
    }

    @Test func `What cannot be used is said at once`() async throws {
        try await withTemporaryFolder { folder in
            try write("x", to: folder + "/x")
            for configuration in [
                UserAuthenticationConfiguration(jwksFile: folder + "/none"), .init(jwksFile: folder + "/x"),
                .init(usersFile: folder + "/none"), .init(usersFile: folder + "/x"),
                .init(signingKeyFile: folder + "/x"),
                .init(jwksURL: "http://id.example/keys"),
            ] {
                #expect(throws: (any Error).self) {
                    try UserAuthenticator(configuration: configuration, logger: .init(label: "test"))
                }
            }
        }
    }
}
