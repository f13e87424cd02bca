import Domain
import Foundations
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// One token for all processes (contract-hub, K4): who makes it, when, and what happens without the store.
@Suite(.timeLimit(.minutes(1))) struct APNsTokensTests {
    private let store = TestTokenStore()
    private let configuration: APNsConfiguration

    init() throws { configuration = try .sample() }

    private func token(_ tokens: APNsTokens) async throws -> APNsTokens.Token {
        try #require(await tokens.token(deadline: .now + patience))
    }

    /// Waits until a process has another token than this one.
    private func next(_ tokens: APNsTokens, after former: APNsTokens.Token) async throws -> APNsTokens.Token {
        try await expectEventually {
            await tokens.token(deadline: .now + patience)?.authorization != former.authorization
        }
        return try await token(tokens)
    }

    /// Waits until the looks into the store that were asked for are over.
    private func settle(_ tokens: APNsTokens, reads: Int) async throws {
        try await expectEventually { store.reads >= reads }
        _ = try await token(tokens)
    }

    @Test func `A token has the form that Apple wants`() async throws {
        let token = try await token(store.tokens(configuration))
        #expect(token.authorization.hasPrefix("bearer "))
        let parts = token.authorization.dropFirst("bearer ".count).split(separator: ".")
        #expect(parts.count == 3 && Base64.decode(parts[2], .url)?.count == 64)
        let header = try #require(Base64.decode(parts[0], .url))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC1234567"}"#)
        #expect(token.claims == #"{"iss":"DEF1234567","iat":1790000000}"#)
    }

    @Test func `All processes have one token, which one of them makes`() async throws {
        let processes = (0..<8).map { _ in store.tokens(configuration) }
        let found = await withTaskGroup(of: String?.self) { group in
            for process in processes {
                group.addTask { await process.token(deadline: .now + patience)?.authorization }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && !found.contains(nil))
        #expect(store.written.count == 1)
    }

    @Test func `Many pushes at once make one token, and ask the store once`() async throws {
        let tokens = store.tokens(configuration)
        store.setHangs()
        let found = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { await tokens.token(deadline: .now + patience)?.authorization } }
            group.addTask {
                _ = try? await eventually { store.reads == 1 }
                store.release()
                return await tokens.token(deadline: .now + patience)?.authorization
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && !found.contains(nil))
        #expect(store.reads == 1)
    }

    @Test func `It is renewed between 40 and 50 minutes, by one process for all`() async throws {
        #expect(APNsTokens.renewal.lowerBound >= 40 * 60 && APNsTokens.renewal.upperBound < 50 * 60)
        let (early, late) = (store.tokens(configuration), store.tokens(configuration, renewalAge: 2_700))
        let first = try await token(early)
        #expect(try await token(late).authorization == first.authorization)
        store.advance(by: .seconds(2_499))
        #expect(try await token(early).authorization == first.authorization)
        // Nobody had to ask the store since.
        #expect(store.reads == 2)
        store.advance(by: .seconds(2))
        let second = try await next(early, after: first)
        #expect(second.claims == #"{"iss":"DEF1234567","iat":1790002501}"#)
        #expect(try await token(late).authorization == first.authorization)
        store.advance(by: .seconds(200))
        #expect(try await next(late, after: first).authorization == second.authorization)
        #expect(store.written.count == 2)
    }

    @Test func `A process that starts late uses what is stored, or renews it`() async throws {
        let first = try await token(store.tokens(configuration))
        store.advance(by: .seconds(2_399))
        #expect(try await token(store.tokens(configuration)).authorization == first.authorization)
        store.advance(by: .seconds(1))
        #expect(try await token(store.tokens(configuration)).authorization != first.authorization)
        #expect(store.written.count == 2)
    }

    /// Its own token would be one too many for APNs, which takes a new one every 20 minutes.
    @Test func `A command uses what is stored, also when it is due to be renewed`() async throws {
        let first = try await token(store.tokens(configuration))
        store.setReadOnly()
        store.advance(by: .seconds(2_700))
        #expect(try await token(store.tokens(configuration)).authorization == first.authorization)
        store.advance(by: .seconds(600))
        #expect(try await token(store.tokens(configuration)).authorization != first.authorization)
    }

    // MARK: Without the store

    @Test func `While the store fails, a token serves for 55 minutes`() async throws {
        let tokens = store.tokens(configuration)
        let first = try await token(tokens)
        store.setFails(true)
        store.advance(by: .seconds(3_299))
        #expect(try await token(tokens).authorization == first.authorization)
        try await settle(tokens, reads: 2)
        #expect(try await token(tokens).authorization == first.authorization)
        store.advance(by: .seconds(61))
        let own = try await token(tokens)
        #expect(own.authorization != first.authorization && !own.isShared)
        #expect(store.written.count == 1)
        // It is shared as soon as that is possible.
        store.setFails(false)
        store.advance(by: .seconds(61))
        _ = try await token(tokens)
        try await expectEventually { store.written.count == 2 }
        #expect(try await token(tokens).authorization == own.authorization)
        #expect(try await token(store.tokens(configuration)).authorization == own.authorization)
    }

    @Test func `An own token gives way to the stored one when it is 20 minutes old`() async throws {
        let tokens = store.tokens(configuration)
        store.setFails(true)
        let own = try await token(tokens)
        store.setFails(false)
        let shared = try await token(store.tokens(configuration))
        #expect(shared.authorization != own.authorization)
        // APNs takes a new token only every 20 minutes.
        store.advance(by: .seconds(61))
        _ = try await token(tokens)
        try await settle(tokens, reads: 3)
        store.advance(by: .seconds(1_100))
        #expect(try await token(tokens).authorization == own.authorization)
        store.advance(by: .seconds(60))
        #expect(try await next(tokens, after: own).authorization == shared.authorization)
    }

    @Test func `A store that hangs holds no push beyond the deadline`() async throws {
        let tokens = store.tokens(configuration)
        store.setHangs()
        let start = ContinuousClock.now
        #expect(await tokens.token(deadline: start + .milliseconds(100)) == nil)
        #expect(ContinuousClock.now - start >= .milliseconds(100))
        let cancelled = Task { await tokens.token(deadline: .now + patience) }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        store.release()
        _ = try await token(tokens)
    }

    @Test func `A store that hangs is not waited for`() async throws {
        let tokens = store.tokens(configuration, patience: .milliseconds(50))
        store.setHangs()
        let own = try await token(tokens)
        #expect(!own.isShared)
        store.release()
        // What comes too late changes nothing.
        #expect(try await token(tokens).authorization == own.authorization)
    }

    @Test func `What somebody else has written is replaced`() async throws {
        let seal = APNsTokenSeal(configuration)
        store.put(SharedPushToken(issuedAt: store.now, sealed: [1, 2, 3]), of: seal.name)
        let first = try await token(store.tokens(configuration))
        #expect(first.isShared && store.written.count == 1)
    }

    // MARK: Clocks

    @Test func `Only the store's clock counts`() async throws {
        let hour = Duration.seconds(3_600)
        let processes = [Duration.zero, hour, .zero - hour].map { store.tokens(configuration, clock: $0) }
        let first = try await token(processes[1])
        #expect(first.claims == #"{"iss":"DEF1234567","iat":1790000000}"#)
        for process in processes { #expect(try await token(process).authorization == first.authorization) }
        #expect(store.written.count == 1)
        // Also for a token that a process makes without the store.
        store.setFails(true)
        store.advance(by: .seconds(3_301))
        for process in processes {
            #expect(try await token(process).claims == #"{"iss":"DEF1234567","iat":1790003301}"#)
        }
    }

    @Test func `A token of the future is replaced, because a clock was set back`() async throws {
        let first = try await token(store.tokens(configuration))
        store.advance(by: .seconds(-59))
        #expect(try await token(store.tokens(configuration)).authorization == first.authorization)
        store.advance(by: .seconds(-2))
        let second = try await token(store.tokens(configuration))
        #expect(second.authorization != first.authorization && second.isShared)
        #expect(try await token(store.tokens(configuration)).authorization == second.authorization)
    }

    // MARK: What APNs says

    @Test func `A token that is called expired is replaced, unless it is young`() async throws {
        let (tokens, other) = (store.tokens(configuration), store.tokens(configuration))
        let first = try await token(tokens)
        _ = try await token(other)
        store.advance(by: .seconds(1_199))
        #expect(await tokens.renewed(after: first, deadline: .now + patience) == nil)
        store.advance(by: .seconds(1))
        let second = try #require(await tokens.renewed(after: first, deadline: .now + patience))
        #expect(second.authorization != first.authorization)
        #expect(try await token(tokens) == second)
        // Another process finds it, and so does a second push.
        #expect(await tokens.renewed(after: first, deadline: .now + patience) == second)
        let found = try #require(await other.renewed(after: first, deadline: .now + patience))
        #expect(found.authorization == second.authorization)
        #expect(store.written.count == 2)
    }

    @Test func `A token that is called too new gives way to the one before`() async throws {
        let tokens = store.tokens(configuration)
        let first = try await token(tokens)
        #expect(tokens.former(insteadOf: first) == nil)
        store.advance(by: .seconds(2_501))
        let second = try await next(tokens, after: first)
        #expect(tokens.former(insteadOf: second)?.authorization == first.authorization)
        #expect(try await token(tokens).authorization == first.authorization)
        // An answer to another push with the new one.
        #expect(tokens.former(insteadOf: second)?.authorization == first.authorization)
        // The older one ends, and APNs has seen the new one 13 minutes ago.
        store.advance(by: .seconds(800))
        #expect(try await next(tokens, after: first).authorization == second.authorization)
        #expect(store.written.count == 2)
    }

    // MARK: The seal

    @Test func `What is stored gives nothing without the key`() throws {
        let seal = APNsTokenSeal(configuration)
        let stored = try seal.close("bearer a.b.c", issuedAt: store.now)
        #expect(seal.open(stored) == "bearer a.b.c")
        #expect(!stored.sealed.contains("bearer".utf8) && !stored.sealed.contains("a.b.c".utf8))
        #expect(APNsTokenSeal(try .sample()).open(stored) == nil)
        var moved = stored
        moved.issuedAt = stored.issuedAt + .seconds(3_600)
        #expect(seal.open(moved) == nil)
        var changed = stored
        changed.sealed[20] ^= 1
        #expect(seal.open(changed) == nil)
    }

    @Test func `Each key and team has its name, which another hub shares`() throws {
        let key = ES256Key()
        let name = APNsTokenSeal(try .sample(key)).name
        #expect(name.utf8.count == 32 && ByteSet.lowerHexDigits.containsAll(name))
        #expect(APNsTokenSeal(try .sample(key, topic: "org.example.other")).name == name)
        #expect(APNsTokenSeal(try .sample()).name != name)
        let other = try APNsConfiguration(key: key, keyID: "ABC1234567", teamID: "XYZ1234567", topic: "a")
        #expect(APNsTokenSeal(other).name != name)
    }
}
