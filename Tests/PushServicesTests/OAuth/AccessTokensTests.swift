import Foundations
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import PushServices

/// When access tokens are fetched, and when not.
@Suite(.timeLimit(.minutes(5))) struct AccessTokensTests {
    private let time = ManualTime()

    private func tokens(_ client: ScriptedTokenClient) throws -> AccessTokens {
        let grant = AccessTokenGrant.clientSecret(
            id: "app", secret: "s&=+ \u{FC}", scope: "scope",
            endpoint: try PushDestination("https://login.example/token?x=1", of: "tokenEndpoint"))
        return AccessTokens(
            grant: grant, client: client, now: { [time] in time.now }, instant: { [time] in time.instant })
    }

    private static let request = PushHTTPRequest(
        origin: PushOrigin(host: "push.example"), path: "/", headers: [], body: [])
    private static var deadline: ContinuousClock.Instant { .now + patience }

    private func isRefused(_ answer: AccessTokens.Answer) -> Bool {
        if case .failure(.refused) = answer { true } else { false }
    }

    @Test func `The request is a form of RFC 6749`() async throws {
        let client = ScriptedTokenClient()
        #expect(try await tokens(client).token(deadline: Self.deadline) == .success("t1"))
        let request = try #require(client.tokens.requests.first)
        #expect(request.origin == PushOrigin(host: "login.example") && request.path == "/token?x=1")
        #expect(
            request.form == [
                "grant_type": "client_credentials", "client_id": "app", "client_secret": "s&=+ \u{FC}",
                "scope": "scope",
            ])
    }

    @Test func `All who wait get the one token`() async throws {
        let client = ScriptedTokenClient(isHeld: true)
        let tokens = try tokens(client)
        let answers = try await withThrowingTaskGroup(of: AccessTokens.Answer.self) { group in
            for _ in 0..<50 { group.addTask { await tokens.token(deadline: Self.deadline) } }
            try await expectEventually { client.tokens.requests.count == 1 }
            client.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 50 && answers.allSatisfy { $0 == .success("t1") })
        #expect(client.tokens.requests.count == 1)
    }

    @Test func `A token is used until five minutes before its end, and on while the next one comes`() async throws {
        let client = ScriptedTokenClient()
        let tokens = try tokens(client)
        #expect(await tokens.token(deadline: Self.deadline) == .success("t1"))
        time.advance(by: .seconds(3_299))
        #expect(await tokens.token(deadline: Self.deadline) == .success("t1"))
        #expect(client.tokens.requests.count == 1)
        time.advance(by: .seconds(1))
        #expect(await tokens.token(deadline: Self.deadline) == .success("t1"))
        try await expectEventually { await tokens.token(deadline: Self.deadline) == .success("t2") }
        #expect(client.tokens.requests.count == 2)
    }

    @Test func `A token service in trouble costs nothing while the token lives`() async throws {
        let client = ScriptedTokenClient(tokens: [.token("t1"), .answer(503), .answer(503), .token("t2")])
        let tokens = try tokens(client)
        _ = await tokens.token(deadline: Self.deadline)
        time.advance(by: .seconds(3_400))
        for _ in 0..<20 { #expect(await tokens.token(deadline: Self.deadline) == .success("t1")) }
        try await expectEventually { client.tokens.requests.count == 2 }
        time.advance(by: .seconds(170))
        // It has ended. The second failure reaches those who wait.
        try await expectEventually {
            await tokens.token(deadline: Self.deadline)
                == .failure(.failed(reason: "token: HTTP 503", after: .seconds(2)))
        }
    }

    @Test func `A token service that fails is left alone for longer and longer`() async throws {
        let client = ScriptedTokenClient(tokens: Array(repeating: .answer(500), count: 100))
        let tokens = try tokens(client)
        for (failures, pause) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            for _ in 0..<5 {
                guard case .failure(.failed(let reason, _)) = await tokens.token(deadline: Self.deadline) else {
                    Issue.record("no failure")
                    return
                }
                #expect(reason == "token: HTTP 500")
            }
            #expect(client.tokens.requests.count == failures + 1)
            time.advance(by: .seconds(pause))
        }
    }

    @Test(arguments: [("7", 7), ("100000", 600), ("x", 1)] as [(String, Int)])
    func `A token service may ask for a longer pause`(retryAfter: String, seconds: Int) async throws {
        let client = ScriptedTokenClient(tokens: [.answer(429, [("retry-after", retryAfter)]), .token("t1")])
        let tokens = try tokens(client)
        _ = await tokens.token(deadline: Self.deadline)
        time.advance(by: .seconds(seconds) - .milliseconds(1))
        guard case .failure(.failed) = await tokens.token(deadline: Self.deadline) else {
            Issue.record("no failure")
            return
        }
        #expect(client.tokens.requests.count == 1)
        time.advance(by: .milliseconds(1))
        #expect(await tokens.token(deadline: Self.deadline) == .success("t1"))
    }

    @Test func `Refused credentials are asked about again after 20 seconds`() async throws {
        let client = ScriptedTokenClient(tokens: [.oauth(400, "invalid_grant", "Invalid JWT Signature."), .token("t1")])
        let tokens = try tokens(client)
        let wanted = AccessTokens.Answer.failure(.refused(reason: "token: invalid_grant: Invalid JWT Signature."))
        for _ in 0..<5 { #expect(await tokens.token(deadline: Self.deadline) == wanted) }
        #expect(client.tokens.requests.count == 1)
        time.advance(by: .seconds(20))
        #expect(await tokens.token(deadline: Self.deadline) == .success("t1"))
    }

    @Test func `Who waits for a token goes at the deadline, and at once when cancelled`() async throws {
        let client = ScriptedTokenClient(isHeld: true)
        let tokens = try tokens(client)
        let late = await tokens.token(deadline: .now + .milliseconds(50))
        #expect(late == .failure(.unreachable(reason: "token: timeout")))
        let waiting = Task { await tokens.token(deadline: .now + .seconds(86_400)) }
        waiting.cancel()
        #expect(await waiting.value == .failure(.unreachable(reason: "cancelled")))
        client.release()
        // The request that they began serves the others.
        #expect(await tokens.token(deadline: Self.deadline) == .success("t1"))
        #expect(client.tokens.requests.count == 1)
    }

    @Test(arguments: [
        PushHTTPFailure.notSent(reason: "no connection"), .unanswered(reason: "timeout"),
    ])
    func `Without a token service the push has not reached anybody`(failure: PushHTTPFailure) async throws {
        let client = ScriptedTokenClient(tokens: [.failure(failure)])
        let result = try await tokens(client).push(deadline: Self.deadline) { _ in
            Self.request
        } read: { _ in
            (PushResult(.accepted), false)
        }
        #expect(client.pushes.requests.isEmpty)
        #expect(result.answer == .unreachable && result.reason.hasPrefix("token: "))
    }

    // MARK: Refused tokens

    private func push(_ tokens: AccessTokens, refusing refused: Set<String>) async -> (PushResult, [String]) {
        let used = Mutex<[String]>([])
        let result = await tokens.push(deadline: Self.deadline) { token in
            used.withLock { $0.append(token) }
            return Self.request
        } read: { _ in
            let isRefused = used.withLock { $0.last.map(refused.contains) ?? false }
            return (PushResult(isRefused ? .credentialRefused : .accepted), isRefused)
        }
        return (result, used.withLock { $0 })
    }

    @Test func `A refused token is replaced once`() async throws {
        let client = ScriptedTokenClient()
        let tokens = try tokens(client)
        #expect(await push(tokens, refusing: ["t1"]) == (PushResult(.accepted), ["t1", "t2"]))
        #expect(await push(tokens, refusing: ["t1"]) == (PushResult(.accepted), ["t2"]))
        #expect(client.tokens.requests.count == 2)
    }

    /// Otherwise each push fetches a token that is of no use.
    @Test func `A token service whose tokens are refused is not asked by each push`() async throws {
        let client = ScriptedTokenClient()
        let tokens = try tokens(client)
        let all: Set = ["t1", "t2", "t3"]
        #expect(await push(tokens, refusing: all) == (PushResult(.credentialRefused), ["t1", "t2"]))
        for _ in 0..<10 { #expect(await push(tokens, refusing: all) == (PushResult(.credentialRefused), ["t2"])) }
        #expect(client.tokens.requests.count == 2)
        time.advance(by: .seconds(10))
        #expect(await push(tokens, refusing: all) == (PushResult(.credentialRefused), ["t2", "t3"]))
    }

    @Test func `Many pushes whose token is refused fetch one`() async throws {
        let client = ScriptedTokenClient()
        let tokens = try tokens(client)
        let results = await withTaskGroup(of: PushResult.self) { group in
            for _ in 0..<100 { group.addTask { await push(tokens, refusing: ["t1"]).0 } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 100 && results.allSatisfy { $0.answer == .accepted })
        #expect(client.tokens.requests.count == 2)
    }

    @Test func `If the next token does not come, that is the end of the push`() async throws {
        let client = ScriptedTokenClient(tokens: [.token("t1"), .answer(503)])
        let (result, used) = try await push(tokens(client), refusing: ["t1"])
        #expect(result.answer == .failed(after: .seconds(1)) && used == ["t1"])
    }

    /// It may be refused for one device, and the token service may be away.
    @Test func `A token that is refused for one push serves the others until the next one comes`() async throws {
        let client = ScriptedTokenClient(tokens: [.token("t1"), .answer(503), .token("t2")])
        let tokens = try tokens(client)
        #expect(await push(tokens, refusing: ["t1"]).0.answer == .failed(after: .seconds(1)))
        for _ in 0..<5 { #expect(await push(tokens, refusing: []) == (PushResult(.accepted), ["t1"])) }
        #expect(client.tokens.requests.count == 2)
        time.advance(by: .seconds(1))
        #expect(await push(tokens, refusing: ["t1"]) == (PushResult(.accepted), ["t1", "t2"]))
        #expect(await push(tokens, refusing: []) == (PushResult(.accepted), ["t2"]))
        #expect(client.tokens.requests.count == 3)
    }

    @Test func `A token service that gives the refused token again is not asked by each push`() async throws {
        let client = ScriptedTokenClient(tokens: [.token("t1"), .token("t1"), .token("t2")])
        let tokens = try tokens(client)
        #expect(await push(tokens, refusing: ["t1"]) == (PushResult(.credentialRefused), ["t1", "t1"]))
        for _ in 0..<5 { #expect(await push(tokens, refusing: ["t1"]) == (PushResult(.credentialRefused), ["t1"])) }
        #expect(client.tokens.requests.count == 2)
    }
}
