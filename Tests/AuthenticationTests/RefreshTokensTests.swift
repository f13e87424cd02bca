import Foundation
import Logging
import SecurePushCore
import Testing

@testable import Authentication

@Suite struct RefreshTokensTests {
    private struct Bench {
        let tokens: RefreshTokens
        let store: MemoryStore
        let folder: String
        let alice: UserName

        func use(_ token: String, at time: Timestamp = .now) async -> AuthenticationError.Code? {
            do {
                _ = try await tokens.refresh(token, now: time)
                return nil
            } catch {
                return (error as? AuthenticationError)?.code
            }
        }
    }

    private static func users(_ password: String) throws -> String {
        let hash = try ScryptHash(password: Array(password.utf8), parameters: .init(logCost: 4, blockSize: 1)).text
        return "alice \(hash)\nbob \(hash)\n"
    }

    private func withTokens(_ body: (Bench) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try TokenSigningKey.make(at: folder + "/key.pem")
            try write(Self.users("old"), to: folder + "/users")
            let configuration = UserAuthenticationConfiguration(
                usersFile: folder + "/users", signingKeyFile: folder + "/key.pem", refreshTTL: .seconds(100))
            let store = MemoryStore()
            let tokens = RefreshTokens(
                configuration: configuration, issuer: try TokenIssuer(configuration: configuration), store: store,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let alice = try #require(UserName("alice"))
            try await body(Bench(tokens: try #require(tokens), store: store, folder: folder, alice: alice))
        }
    }

    @Test func aTokenIsUsedOnceAndItsSuccessorWorks() async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now)
            #expect(first.refresh.utf8.count == 64 && first.access.expiresIn == 3600)
            let second = try await bench.tokens.refresh(first.refresh, now: now)
            let third = try await bench.tokens.refresh(second.refresh, now: now)
            #expect(Set([first.refresh, second.refresh, third.refresh]).count == 3)
            #expect(Set([first.access.token, second.access.token, third.access.token]).count == 3)
        }
    }

    @Test func usingAnyOldTokenAgainEndsTheFamily() async throws {
        for position in 0..<2 {
            try await withTokens { bench in
                let other = try await bench.tokens.begin(for: bench.alice).refresh
                var chain = [try await bench.tokens.begin(for: bench.alice).refresh]
                for _ in 0..<2 { chain.append(try await bench.tokens.refresh(chain[chain.count - 1]).refresh) }
                #expect(await bench.use(chain[position]) == .invalid)
                #expect(await bench.use(chain[2]) == .invalid)
                #expect(await bench.use(other) == nil)
            }
        }
    }

    @Test func theStoreHasNoToken() async throws {
        try await withTokens { bench in
            let text = try await bench.tokens.begin(for: bench.alice).refresh
            let bytes = try #require(Base64.decode(text, .url))
            let family = try #require(try await bench.store.refreshFamily(Array(bytes.prefix(16))))
            #expect(family.tokenHash.count == 32 && family.tokenHash != Array(bytes.suffix(32)))
            #expect(family.owner == bench.alice)
        }
    }

    @Test func aTokenEndsAfterItsLifetimeWhichARefreshRenews() async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now).refresh
            let second = try await bench.tokens.refresh(first, now: now + .seconds(99)).refresh
            #expect(await bench.use(second, at: now + .seconds(199)) == .invalid)
            #expect(await bench.use(second, at: now + .seconds(198)) == nil)
        }
    }

    @Test(arguments: ["bob x", "changed", "unusable"])
    func theUsersEntryDecides(change: String) async throws {
        try await withTokens { bench in
            let token = try await bench.tokens.begin(for: bench.alice).refresh
            let file = bench.folder + "/users"
            let old = try Self.users("old")
            switch change {
            case "changed": try write(try Self.users("new"), to: file)
            case "unusable": try FileManager.default.removeItem(atPath: file)
            default: try write(old.split(separator: "\n").dropFirst().joined(separator: "\n"), to: file)
            }
            let expected: AuthenticationError.Code = change == "unusable" ? .unavailable : .invalid
            // The file is read again within a second, and each refresh before that replaces the token.
            var current = token
            let end = ContinuousClock.now + .seconds(20)
            var code: AuthenticationError.Code?
            while code == nil, ContinuousClock.now < end {
                do {
                    current = try await bench.tokens.refresh(current).refresh
                } catch let error as AuthenticationError {
                    code = error.code
                }
            }
            #expect(code == expected)
            guard change == "unusable" else { return }
            // The token was not used up.
            try write(old, to: file)
            while await bench.use(current) == .unavailable, ContinuousClock.now < end {}
            #expect(await bench.use(current) == .invalid, "used a second time")
        }
    }

    @Test func otherTextsAreNoTokens() async throws {
        try await withTokens { bench in
            let token = try await bench.tokens.begin(for: bench.alice).refresh
            var texts = ["", "x", String(repeating: "A", count: 63), String(repeating: "A", count: 65)]
            texts += [token + "=", " " + token, String(token.dropLast()) + "!", String(repeating: "é", count: 32)]
            texts.append(String(repeating: "A", count: 1_000_000))
            for text in texts {
                #expect(await bench.use(text) == .invalid)
                try await bench.tokens.end(text)
            }
            #expect(await bench.use(token) == nil)
        }
    }

    @Test func endingAFamilyTakesAnyOfItsTokens() async throws {
        try await withTokens { bench in
            let first = try await bench.tokens.begin(for: bench.alice).refresh
            let second = try await bench.tokens.refresh(first).refresh
            try await bench.tokens.end(first)
            #expect(await bench.use(second) == .invalid)
        }
    }

    @Test func withoutTheSettingThereAreNone() throws {
        let configuration = UserAuthenticationConfiguration(refreshTTL: .seconds(1))
        let logger = Logger(label: "test")
        #expect(configuration.cannotRefresh)
        #expect(RefreshTokens(configuration: configuration, issuer: nil, store: MemoryStore(), logger: logger) == nil)
    }
}
