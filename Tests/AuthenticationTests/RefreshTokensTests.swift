import Domain
import Foundation
import Foundations
import Logging
import StackKit
import TestSupport
import Testing

@testable import Authentication

struct RefreshTokensTests {
    private struct Bench {
        let tokens: RefreshTokens
        let store: any Store
        let folder: String
        let alice: UserName
        let configuration: UserAuthenticationConfiguration

        /// Another process with the same store and the files as they are now.
        func sibling() throws -> RefreshTokens {
            try #require(
                RefreshTokens(
                    configuration: configuration, issuer: try TokenIssuer(configuration: configuration), store: store,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        }

        func family(of token: String) async throws -> RefreshFamily? {
            try await store.refreshFamily(Array(try #require(Base64.decode(token, .url)).prefix(16)))
        }

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
            let store = memoryStore()
            let tokens = RefreshTokens(
                configuration: configuration, issuer: try TokenIssuer(configuration: configuration), store: store,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let alice = try #require(UserName("alice"))
            try await body(
                Bench(
                    tokens: try #require(tokens), store: store, folder: folder, alice: alice,
                    configuration: configuration))
        }
    }

    @Test func `A log-in with another entry begins nothing`() async throws {
        try await withTokens { bench in
            let issuer = try #require(try TokenIssuer(configuration: bench.configuration))
            let entry = try issuer.userEntry(of: bench.alice)
            _ = try await bench.tokens.begin(for: bench.alice, entry: entry)
            try write(Self.users("new"), to: bench.folder + "/users")
            await issuer.checkUsers()
            let error = #expect(throws: AuthenticationError.self) { try issuer.issue(to: bench.alice, entry: entry) }
            #expect(error?.code == .invalid && error?.challenges == [Challenge.basic])
            let begun = await #expect(throws: AuthenticationError.self) {
                try await bench.tokens.begin(for: bench.alice, entry: entry)
            }
            #expect(begun?.code == .invalid)
        }
    }

    @Test func `A token is used once and its successor works`() async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now)
            #expect(first.refresh.utf8.count == 64 && first.access.expiresIn == 3600)
            let second = try await bench.tokens.refresh(first.refresh, now: now)
            let third = try await bench.tokens.refresh(second.refresh, now: now)
            #expect(Set([first.refresh, second.refresh, third.refresh]).count == 3)
            #expect(third.refresh.utf8.count == 64)
            #expect(Set([first.access.token, second.access.token, third.access.token]).count == 3)
        }
    }

    @Test(arguments: [(0, 0), (0, 59), (1, 60), (1, 61), (0, 90)])
    func `Using an old token again ends the family`(position: Int, after seconds: Int) async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let other = try await bench.tokens.begin(for: bench.alice, now: now).refresh
            var chain = [try await bench.tokens.begin(for: bench.alice, now: now).refresh]
            for _ in 0..<2 { chain.append(try await bench.tokens.refresh(chain[chain.count - 1], now: now).refresh) }
            #expect(await bench.use(chain[position], at: now + .seconds(seconds)) == .invalid)
            #expect(await bench.use(chain[2], at: now + .seconds(seconds)) == .invalid)
            #expect(await bench.use(other, at: now + .seconds(seconds)) == nil)
        }
    }

    /// The answer to a refresh was lost once or several times.
    @Test(arguments: [[0], [59_999], [1, 2, 3, 30_000, 59_999], [-5000]])
    func `A token whose answer was lost gives the same successor`(milliseconds: [Int]) async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now).refresh
            let second = try await bench.tokens.refresh(first, now: now)
            for later in milliseconds {
                let again = try await bench.tokens.refresh(first, now: now + .milliseconds(later))
                #expect(again.refresh == second.refresh && again.access != second.access)
            }
            // It does not prolong anything, and the successor is still good.
            let family = try #require(try await bench.family(of: first))
            #expect(family.expiresAt == now + .seconds(100))
            let third = try await bench.tokens.refresh(second.refresh, now: now + .seconds(59)).refresh
            #expect(try await bench.tokens.refresh(second.refresh, now: now + .seconds(118)).refresh == third)
            #expect(await bench.use(second.refresh, at: now + .seconds(119)) == .invalid)
            #expect(await bench.use(third, at: now + .seconds(119)) == .invalid)
        }
    }

    /// What began before its end is finished: the token itself may expire meanwhile.
    @Test func `A token that was used in its last moment is accepted again`() async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now).refresh
            let second = try await bench.tokens.refresh(first, now: now + .seconds(99)).refresh
            #expect(try await bench.tokens.refresh(first, now: now + .seconds(150)).refresh == second)
        }
    }

    /// The successor of the new key takes the place of the one that nobody has used.
    @Test func `Another signing key gives another successor`() async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now).refresh
            let second = try await bench.tokens.refresh(first, now: now).refresh
            try FileManager.default.removeItem(atPath: bench.folder + "/key.pem")
            try TokenSigningKey.make(at: bench.folder + "/key.pem")
            let rotated = try bench.sibling()
            let other = try await rotated.refresh(first, now: now + .seconds(1)).refresh
            #expect(other != second)
            #expect(try await rotated.refresh(first, now: now + .seconds(2)).refresh == other)
            let third = try await rotated.refresh(other, now: now + .seconds(3)).refresh
            #expect(try await rotated.refresh(third, now: now + .seconds(4)).refresh != third)
            await #expect(throws: AuthenticationError.self) {
                try await rotated.refresh(second, now: now + .seconds(5))
            }
        }
    }

    /// Nobody can compute a successor without the key, not even with the token and the store.
    @Test func `Successors depend on key family and token`() async throws {
        try await withTokens { bench in
            let key = try TokenSigningKey(path: bench.folder + "/key.pem")
            let other = try TokenSigningKey.make(at: bench.folder + "/other.pem")
            let tokens = [[UInt8](repeating: 1, count: 48), [2] + [UInt8](repeating: 1, count: 47), [1]]
            let successors = tokens.flatMap { [key.successor(of: $0), other.successor(of: $0)] }
            #expect(Set(successors).count == 6 && successors.allSatisfy { $0.count == 32 })
            #expect(key.successor(of: tokens[0]) == successors[0])
        }
    }

    @Test func `The store has no token`() async throws {
        try await withTokens { bench in
            let first = try await bench.tokens.begin(for: bench.alice).refresh
            let second = try await bench.tokens.refresh(first).refresh
            let family = try #require(try await bench.family(of: first))
            #expect(family.owner == bench.alice)
            let replaced = try #require(family.replaced)
            for (hash, token) in [(replaced.hash, first), (family.tokenHash, second)] {
                let bytes = try #require(Base64.decode(token, .url))
                #expect(hash.count == 32 && hash != Array(bytes.suffix(32)))
            }
        }
    }

    @Test func `A token ends after its lifetime which a refresh renews`() async throws {
        try await withTokens { bench in
            let now = Timestamp.now
            let first = try await bench.tokens.begin(for: bench.alice, now: now).refresh
            let second = try await bench.tokens.refresh(first, now: now + .seconds(99)).refresh
            #expect(await bench.use(second, at: now + .seconds(199)) == .invalid)
            #expect(await bench.use(second, at: now + .seconds(198)) == nil)
        }
    }

    @Test(arguments: ["bob x", "changed", "unusable"])
    func `The user's entry decides`(change: String) async throws {
        try await withTokens { bench in
            let token = try await bench.tokens.begin(for: bench.alice).refresh
            let file = bench.folder + "/users"
            let old = try String(contentsOfFile: file, encoding: .utf8)
            switch change {
            case "changed": try write(try Self.users("new"), to: file)
            case "unusable": try FileManager.default.removeItem(atPath: file)
            default: try write(old.split(separator: "\n").dropFirst().joined(separator: "\n"), to: file)
            }
            let expected: AuthenticationError.Code = change == "unusable" ? .unavailable : .invalid
            // The file is read again within a second, and each refresh before that replaces the token.
            var current = token
            let end = ContinuousClock.now + patience
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
            repeat { code = await bench.use(current) } while code == .unavailable && ContinuousClock.now < end
            #expect(code == nil)
            #expect(try await bench.family(of: current)?.replaced != nil, "used once")
        }
    }

    @Test func `Other texts are no tokens`() async throws {
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

    @Test func `Ending a family takes any of its tokens`() async throws {
        try await withTokens { bench in
            let first = try await bench.tokens.begin(for: bench.alice).refresh
            let second = try await bench.tokens.refresh(first).refresh
            try await bench.tokens.end(first)
            #expect(await bench.use(second) == .invalid)
        }
    }

    @Test func `Without the setting there are none`() throws {
        let configuration = UserAuthenticationConfiguration(refreshTTL: .seconds(1))
        let logger = Logger(label: "test")
        #expect(RefreshTokens(configuration: configuration, issuer: nil, store: memoryStore(), logger: logger) == nil)
    }
}
