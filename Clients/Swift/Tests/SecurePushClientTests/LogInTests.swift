import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct LogInTests {
    @Test func theTutorialsFlow() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        phone.server.add("01", "\"first\"")
        phone.server.add("02", "\"second\"")
        #expect(await phone.push("01").code == .loggedOut)
        #expect(await phone.push("02").waiting.map(\.rawValue) == ["02"])
        #expect(phone.requests.isEmpty)
        #expect(await phone.screen.prompt?.ids.map(\.rawValue) == ["01", "02"])
        #expect(await phone.screen.prompt?.localizationKey == "securepush.log-in")
        // The same push again asks no second time.
        _ = await phone.push("02")
        #expect(await phone.screen.prompts.count == 2)
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        let report = await phone.client.resumeAfterLogIn()
        #expect(report.shown.map(\.rawValue) == ["01", "02"])
        #expect(await phone.screen.secrets == ["01": "first", "02": "second"])
        #expect(await phone.screen.prompt == nil)
    }

    @Test func thePromptOutlivesARestart() async throws {
        let store = MemoryClientStore()
        let first = try await SimulatedPhone(store: store, isLoggedIn: false)
        first.server.add("01")
        _ = await first.push("01")
        let second = try await SimulatedPhone(store: store, isLoggedIn: false, sharing: first)
        #expect(await second.client.waiting().map(\.rawValue) == ["01"])
        try await second.logIn()
        #expect(await second.client.resumeAfterLogIn().shown.map(\.rawValue) == ["01"])
    }

    @Test func anExpiredTokenIsRefreshedOnce() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        phone.server.add("01")
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        phone.server.change { $0.token = "other" }
        #expect(await phone.push("01").shown.count == 1)
        #expect(phone.requests.filter { $0 == "POST token" }.count == 2)
        #expect(phone.requests.filter { $0.hasPrefix("GET notifications/01") }.count == 2)
    }

    @Test func aTokenThatCannotBeRefreshedEndsInThePrompt() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.change { $0.token = "other" }
        #expect(await phone.push("01").code == .status(401))
        #expect(phone.requests == ["GET notifications/01?include=unread"])
        #expect(await phone.screen.prompt?.code == .status(401))
        // Nothing more is asked with credentials that were refused.
        _ = await phone.push("02")
        #expect(phone.requests.count == 1)
        try await phone.logIn()
        phone.server.add("02")
        #expect(await phone.client.resumeAfterLogIn().shown.count == 2)
    }

    @Test func manyFetchesShareOneRefresh() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        for number in 100..<120 { phone.server.add("\(number)") }
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        phone.server.change { $0.token = "other" }
        await withTaskGroup(of: Void.self) { group in
            for number in 100..<120 { group.addTask { _ = await phone.push("\(number)") } }
        }
        #expect(await phone.screen.shown.count == 20)
        #expect(phone.requests.filter { $0 == "POST token" }.count == 2)
    }

    @Test func aServerThatCannotRefreshNowShowsTheGenericTextAndNoPrompt() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        phone.server.add("01")
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        phone.server.change { $0.token = "other" }
        phone.server.fail("POST token", .error(.unreachable), times: 20)
        #expect(await phone.push("01").code == .credentials)
        #expect(await phone.screen.prompt == nil)
        phone.server.change { $0.faults = [] }
        #expect(await phone.client.catchUp().shown.count == 1)
    }

    @Test func anotherUserSeesNothingOfTheLast() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        _ = await phone.push("01")
        phone.server.fail("GET notifications/02", .error(.unreachable), times: 10)
        _ = await phone.push("02")
        try await phone.credentials.logIn(userName: "bob", token: "token-1")
        phone.server.change { $0.items = [] }
        _ = await phone.client.resumeAfterLogIn()
        #expect(await phone.screen.secrets.isEmpty)
        #expect(await phone.screen.notices.isEmpty)
        #expect(await phone.client.waiting().isEmpty)
    }

    @Test func aSecretThatArrivesAfterTheUserHasGoneIsNotShown() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .meanwhile { _ = try? await phone.client.unregister() })
        #expect(await phone.push("01").shown.isEmpty)
        #expect(await phone.screen.shown.isEmpty)
    }

    /// The log-out follows `unregister()`, so the credentials are still valid.
    @Test(arguments: ["GET notifications/01", "GET notifications?Limit", "GET notifications?include"])
    func theCatchUpOfAWakeEndsWhenTheUserGoes(_ request: String) async throws {
        let phone = try await SimulatedPhone { $0.limits.maxSecretsPerPage = 2 }
        for id in ["01", "02", "03", "04", "05", "06"] { phone.server.add(id) }
        // The first is shown if the user goes later.
        let shown = request == "GET notifications/01" ? [] : ["01"]
        phone.server.fail(request, .meanwhile { _ = try? await phone.client.unregister() })
        #expect(await phone.push("01").shown.map(\.rawValue) == shown)
        #expect(await phone.screen.shown == shown)
        #expect(await phone.screen.secrets.isEmpty)
        #expect(await phone.client.waiting().isEmpty)
        #expect(await phone.screen.badge == 0)
    }

    @Test func waitingSecretsAreNotFetchedAfterTheUserHasGone() async throws {
        let phone = try await SimulatedPhone()
        for id in ["01", "02", "03"] {
            phone.server.add(id)
            phone.server.fail("GET notifications", .error(.unreachable), times: 50)
            _ = await phone.push(id)
            phone.server.change { $0.faults = [] }
        }
        phone.server.fail("GET notifications/01", .meanwhile { _ = try? await phone.client.unregister() })
        #expect(await phone.client.catchUp() == WakeReport())
        #expect(await phone.screen.shown.isEmpty)
        #expect(await phone.screen.notices.isEmpty)
    }

    @Test(arguments: [401, 404, 503])
    func aFetchThatFailsAfterTheUserHasGoneShowsNothing(_ status: Int) async throws {
        let phone = try await SimulatedPhone()
        let server = phone.server
        server.add("01")
        server.fail(
            "GET notifications/01",
            .meanwhile {
                _ = try? await phone.client.unregister()
                server.change { state in
                    state.token = "other"
                    state.faults = (0..<50).map { _ in
                        ("GET", .response(status < 500 ? .refusal(status) : TransportResponse(status: status)))
                    }
                }
            })
        #expect(await phone.push("01") == WakeReport())
        #expect(await phone.screen.noticed.isEmpty)
        #expect(await phone.screen.prompt == nil)
        #expect(try await !phone.store.read().isPrompted)
    }

    @Test func aSecretThatIsBeingShownWhenTheUserGoesIsRemoved() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        await phone.screen.beforeNextSecret { _ = try? await phone.client.unregister() }
        _ = await phone.push("01")
        #expect(await phone.screen.shown == ["01"])
        #expect(await phone.screen.secrets.isEmpty)
        #expect(try await phone.store.read().unreported.isEmpty)
    }

    /// The last user's wake begins its catch-up while the new user's wake has begun and waits for the credentials.
    @Test func theCatchUpForTheLastUserDoesNotServeTheNewOne() async throws {
        let phone = try await SimulatedPhone()
        let credentials = HeldCredentials()
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url), credentials: credentials,
            store: phone.store, transport: phone.server, clock: phone.clock, presenter: phone.screen)
        for id in ["01", "02"] { phone.server.add(id) }
        let (isFetching, hasBegun, mayGoOn) = (Gate(), Gate(), Gate())
        phone.server.fail(
            "GET notifications/01",
            .meanwhile {
                await isFetching.open()
                await hasBegun.wait()
            })
        phone.server.fail(
            "GET notifications?",
            .meanwhile {
                await mayGoOn.open()
                while (try? await phone.store.read().owner) != "bob" { await Task.yield() }
            })
        async let first = client.handle(push: IncomingPush(data: ["secureId": "01"]))
        await isFetching.wait()
        await credentials.change(to: "bob", hasBegun: hasBegun, mayGoOn: mayGoOn)
        #expect(await client.resumeAfterLogIn().shown.map(\.rawValue) == ["02"])
        #expect(await first.shown.map(\.rawValue) == ["01"])
        #expect(await phone.screen.shown == ["01", "02"])
        #expect(await phone.screen.secrets.keys.sorted() == ["02"])
    }

    @Test func aSecretThatArrivesForTheLastUserIsNotShown() async throws {
        let phone = try await SimulatedPhone()
        let server = phone.server
        server.add("01")
        server.fail("GET notifications?", .error(.untrusted), times: 10)
        server.fail(
            "GET notifications/01",
            .meanwhile {
                try? await phone.credentials.logIn(userName: "bob", token: "token-1")
                // A push makes the client look at the user.
                _ = await phone.client.handle(push: IncomingPush(data: ["secureId": "02", "withdraw": "1"]))
            })
        _ = await phone.push("01")
        #expect(await !phone.screen.shown.contains("01"))
    }

    /// The third read is that of the write, so the log-out comes between the two.
    @Test(arguments: [(200, 2), (401, 2), (503, 2), (200, 3)])
    func aRefreshDoesNotUndoALogOut(_ status: Int, afterRead count: Int) async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        phone.clock.jump(by: 7_200)
        let answer = Data(#"{"access_token":"new","refresh_token":"next"}"#.utf8)
        phone.server.fail(
            "POST token",
            .response(
                TransportResponse(status: status, headers: ["WWW-Authenticate": "Bearer"], body: answer)))
        let store = LogOutDuringReads(store: phone.store)
        let credentials = TokenCredentialsProvider(
            retrievalURL: SimulatedPhone.url, store: store, transport: phone.server, clock: phone.clock)
        await store.logOutAfterRead(count)
        _ = try? await credentials.credentials()
        #expect(try await phone.store.credentials() == nil)
    }

    @Test func aFetchRefreshesTheCredentialsOnce() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        let credentials = CountingCredentials()
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url), credentials: credentials,
            store: phone.store, transport: phone.server, clock: phone.clock, presenter: phone.screen)
        phone.server.fail("GET notifications/01", .response(.refusal(401)))
        phone.server.fail("GET notifications/01", .response(TransportResponse(status: 503)), times: 2)
        #expect(await client.handle(push: IncomingPush(data: ["secureId": "01"])).shown.count == 1)
        #expect(await credentials.refreshes == 1)
    }

    @Test func aPasswordIsKeptOnlyIfTheAppWantsIt() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        phone.server.change { $0.issuesTokens = false }
        await #expect(throws: SecurePushFailure(code: .status(404))) {
            try await phone.credentials.logIn(userName: "alice", password: "pw")
        }
        #expect(try await phone.store.credentials() == nil)
        let credentials = TokenCredentialsProvider(
            retrievalURL: SimulatedPhone.url, store: phone.store, transport: phone.server, clock: phone.clock,
            keepsPassword: true)
        // A password that the server has not seen is not known to be right.
        await #expect(throws: SecurePushFailure(code: .status(401))) {
            try await credentials.logIn(userName: "alice", password: "wrong")
        }
        for answer in [TransportResponse.ofProxy(200), .ofProxy(401)] {
            phone.server.fail("GET notifications", .response(answer))
            await #expect(throws: SecurePushFailure(code: .malformedAnswer)) {
                try await credentials.logIn(userName: "alice", password: "pw")
            }
        }
        #expect(try await phone.store.credentials() == nil)
        try await credentials.logIn(userName: "alice", password: "pw")
        #expect(try await credentials.credentials() == .basic(userName: "alice", password: "pw"))
    }

    @Test func theWrongPasswordIsAnError() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        await #expect(throws: SecurePushFailure(code: .status(401))) {
            try await phone.credentials.logIn(userName: "alice", password: "wrong")
        }
        #expect(try await phone.store.credentials() == nil)
    }

    @Test func loggingOutEndsTheSession() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        try await phone.credentials.logOut()
        #expect(phone.requests.last == "DELETE token")
        #expect(try await phone.credentials.credentials() == nil)
        #expect(await phone.credentials.userName() == nil)
    }

    @Test func noCredentialIsInADescription() {
        let credentials = ClientCredentials.basic(userName: "alice", password: "hunter2")
        let stored = StoredCredentials(userName: "alice", accessToken: "hunter2", password: "hunter2")
        var text = "\(credentials) \(stored)"
        dump(credentials, to: &text)
        dump(stored, to: &text)
        debugPrint(credentials, stored, to: &text)
        #expect(!text.contains("hunter2"))
    }
}

/// A store whose credentials somebody removes while they are used.
private actor LogOutDuringReads: ClientStore {
    private let store: any ClientStore
    private var readsLeft: Int?

    init(store: any ClientStore) { self.store = store }

    /// Removes the credentials after this number of reads.
    func logOutAfterRead(_ count: Int) { readsLeft = count }

    func read() async throws -> ClientState { try await store.read() }

    func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result {
        try await store.update(change)
    }

    func credentials() async throws -> StoredCredentials? {
        let stored = try await store.credentials()
        if let count = readsLeft {
            readsLeft = count > 1 ? count - 1 : nil
            if count == 1 { try await store.changeCredentials { _ in nil } }
        }
        return stored
    }

    func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        try await store.replace(expected, with: new)
    }

    func envelopeKeys() async throws -> EnvelopeKeyRing { try await store.envelopeKeys() }

    func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        try await store.replace(expected, with: new)
    }

    func remember(_ envelope: EnvelopeRecord) async throws -> Bool { try await store.remember(envelope) }

    func claimLockedNotice() async -> Bool { await store.claimLockedNotice() }
}

/// Credentials of a session of the app, whose refresh has a cost.
private actor CountingCredentials: CredentialsProvider {
    private(set) var refreshes = 0

    func userName() async -> String? { "alice" }

    func credentials() async throws -> ClientCredentials? { .bearer("token-1") }

    func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? {
        refreshes += 1
        return .bearer("token-1")
    }
}

/// The credentials of a user. Another user's name waits until a test lets it go on.
private actor HeldCredentials: CredentialsProvider {
    private var name = "alice"
    private var hasBegun: Gate?
    private var mayGoOn: Gate?

    func change(to name: String, hasBegun: Gate, mayGoOn: Gate) {
        (self.name, self.hasBegun, self.mayGoOn) = (name, hasBegun, mayGoOn)
    }

    func userName() async -> String? {
        await hasBegun?.open()
        await mayGoOn?.wait()
        return name
    }

    func credentials() async throws -> ClientCredentials? { .bearer("token-1") }

    func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? { nil }
}
