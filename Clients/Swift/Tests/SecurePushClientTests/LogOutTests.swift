import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// The log-out: the device forgets the user at once, and the server is told when it can be reached.
@Suite(.timeLimit(.minutes(10))) struct LogOutTests {
    private let device = PushDevice(platform: .apns, channel: "AB")

    /// A phone of alice, who has a session of the server, a device with a key, and a secret on the screen.
    private func phone(store: any ClientStore = MemoryClientStore()) async throws -> SimulatedPhone {
        let phone = try await SimulatedPhone(store: store, isLoggedIn: false) { $0.encryptsEndToEnd = true }
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        try await phone.client.register(device)
        phone.server.add("01")
        _ = await phone.push("01")
        #expect(await phone.screen.secrets.count == 1)
        return phone
    }

    /// The next process of the same app.
    private func restarted(_ phone: SimulatedPhone, _ store: any ClientStore) async throws -> SimulatedPhone {
        try await SimulatedPhone(store: store, isLoggedIn: false, sharing: phone) { $0.encryptsEndToEnd = true }
    }

    private func expectForgotten(_ phone: SimulatedPhone) async throws {
        #expect(await phone.screen.secrets.isEmpty)
        #expect(await phone.screen.notices.isEmpty)
        #expect(await phone.screen.badge == 0)
        #expect(await phone.credentials.userName() == nil)
        #expect(try await phone.credentials.credentials() == nil)
        #expect(try await phone.store.envelopeKey() == nil)
        let state = try await phone.store.read()
        #expect(state.owner == nil && state.ledger.entries.isEmpty && state.registration == RegistrationRecord())
    }

    private func expectToldTheServer(_ phone: SimulatedPhone) async throws {
        #expect(phone.server.change { $0.installations.isEmpty && $0.refreshTokens.isEmpty })
        #expect(try await phone.store.credentials() == nil)
    }

    @Test func theServerIsTold() async throws {
        let phone = try await phone()
        #expect(try await phone.client.logOut())
        try await expectForgotten(phone)
        try await expectToldTheServer(phone)
        #expect(phone.requests.suffix(2).map { $0.prefix(6) } == ["DELETE", "DELETE"])
        // Nothing is left to tell.
        let count = phone.requests.count
        _ = await phone.client.catchUp()
        #expect(phone.requests.count == count)
    }

    @Test func withoutANetworkTheServerIsToldLater() async throws {
        let phone = try await phone()
        phone.server.fail("", .error(.unreachable), times: 1_000)
        #expect(try await !phone.client.logOut())
        try await expectForgotten(phone)
        #expect(phone.server.change { $0.installations.count } == 1)
        phone.server.change { $0.faults = [] }
        _ = await phone.client.catchUp()
        try await expectForgotten(phone)
        try await expectToldTheServer(phone)
    }

    @Test func theNextUserDoesNotWait() async throws {
        let phone = try await phone()
        let old = try #require(phone.server.change { $0.installations.keys.first })
        phone.server.fail("DELETE", .error(.unreachable), times: 1_000)
        #expect(try await !phone.client.logOut())
        try await phone.credentials.logIn(userName: "bob", token: phone.server.change { $0.token })
        let new = try await phone.client.register(device)
        #expect(phone.server.change { Set($0.installations.keys) } == [old, new])
        phone.server.change { $0.faults = [] }
        _ = await phone.client.catchUp()
        #expect(phone.server.change { Array($0.installations.keys) } == [new])
        #expect(await phone.credentials.userName() == "bob")
        #expect(try await phone.store.credentials()?.departures == nil)
        #expect(try await phone.store.read().owner == "bob")
    }

    @Test func anExpiredTokenIsRenewedForTheRemoval() async throws {
        let phone = try await phone()
        phone.server.change { $0.token = "other" }
        #expect(try await phone.client.logOut())
        try await expectToldTheServer(phone)
    }

    @Test func aTokenIsKeptForADay() async throws {
        let phone = try await phone()
        phone.server.fail("DELETE", .error(.unreachable), times: 1_000)
        #expect(try await !phone.client.logOut())
        let departure = try #require(try await phone.store.credentials()?.departures?.first)
        #expect(departure.accessToken != nil && departure.refreshToken != nil)
        phone.clock.jump(by: Departure.maxAge + 1)
        _ = await phone.client.catchUp()
        #expect(try await phone.store.credentials() == nil)
    }

    @Test func aSessionThatTheServerHasEndedIsNotAskedAgain() async throws {
        let phone = try await phone()
        phone.server.change { ($0.token, $0.refreshTokens) = ("other", []) }
        #expect(try await !phone.client.logOut())
        try await expectForgotten(phone)
        #expect(try await phone.store.credentials() == nil)
    }

    @Test(arguments: [false, true]) func aRefreshThatEndsLaterDoesNotBringTheSessionBack(_ isRefused: Bool) async throws
    {
        let phone = try await phone()
        let server = phone.server
        server.change { $0.token = "other" }
        server.fail(
            "POST token",
            .meanwhile {
                server.fail("DELETE", .error(.unreachable), times: 1_000)
                _ = try? await phone.client.logOut()
                if isRefused { server.change { $0.refreshTokens = [] } }
            })
        _ = await phone.client.catchUp()
        try await expectForgotten(phone)
        #expect(server.requests.contains { $0.hasSuffix("/token") })
        server.change { $0.faults = [] }
        #expect(await phone.client.catchUp().shown.isEmpty)
        try await expectForgotten(phone)
    }

    /// `unregister()` may come before `logOut()` of the credentials, as in apps of an earlier version.
    @Test(arguments: [false, true]) func theTwoCallsOfEarlierVersionsDoTheSame(_ isOffline: Bool) async throws {
        let phone = try await phone()
        if isOffline { phone.server.fail("DELETE", .error(.unreachable), times: 1_000) }
        #expect(try await phone.client.unregister() == !isOffline)
        try await phone.credentials.logOut()
        try await expectForgotten(phone)
        phone.server.change { $0.faults = [] }
        _ = await phone.client.catchUp()
        try await expectToldTheServer(phone)
    }

    /// The process dies before each write and before each change of the screen. The next one ends what it has begun.
    @Test(arguments: 0..<14) func aProcessThatDiesLeavesNothing(_ step: Int) async throws {
        let memory = MemoryClientStore()
        let phone = try await phone(store: memory)
        let death = Death(after: step)
        let dying = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url, encryptsEndToEnd: true),
            credentials: phone.credentials, store: DyingStore(store: memory, death: death),
            transport: DyingTransport(server: phone.server, death: death), clock: phone.clock,
            presenter: DyingPresenter(screen: phone.screen, death: death))
        _ = try? await dying.logOut()
        let hasBegun = try await memory.credentials()?.isOfUser != true
        // The same screen, because the user still sees it.
        let next = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url, encryptsEndToEnd: true),
            credentials: phone.credentials, store: memory, transport: phone.server, clock: phone.clock,
            presenter: phone.screen)
        if !hasBegun {
            // It has changed nothing: the user is still logged in, and logs out again.
            #expect(await phone.screen.secrets.count <= 1)
            #expect(try await next.logOut())
        }
        _ = await next.catchUp()
        try await expectForgotten(phone)
        try await expectToldTheServer(phone)
    }

    @Test func aUserWhoLogsInAfterADeathSeesNothingOfTheLast() async throws {
        let memory = MemoryClientStore()
        let phone = try await phone(store: memory)
        let death = Death(after: 1)
        let dying = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url), credentials: phone.credentials,
            store: DyingStore(store: memory, death: death), transport: phone.server, clock: phone.clock,
            presenter: DyingPresenter(screen: phone.screen, death: death))
        _ = try? await dying.logOut()
        #expect(try await memory.credentials()?.isOfUser == false)
        #expect(await phone.screen.secrets.count == 1)
        try await phone.credentials.logIn(userName: "bob", token: phone.server.change { $0.token })
        phone.server.change { $0.items = [] }
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.isEmpty)
        #expect(try await memory.envelopeKey() == nil)
        #expect(try await memory.read().owner == "bob")
    }

    @Test func aStoreThatCannotBeWrittenIsAnError() async throws {
        let store = FaultyStore()
        let phone = try await phone(store: store)
        await store.fail(writes: .unwritable)
        await #expect(throws: SecurePushFailure(code: .credentials)) { try await phone.client.logOut() }
        await store.fail()
        #expect(await phone.credentials.userName() == "alice")
        #expect(try await phone.client.logOut())
        try await expectForgotten(phone)
    }

    @Test func anAppWithASessionOfItsOwnEndsItItself() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url),
            credentials: FixedCredentialsProvider(userName: "alice", credentials: .bearer("token-1")),
            store: phone.store, transport: phone.server, clock: phone.clock, presenter: phone.screen)
        try await client.register(device)
        phone.server.fail("DELETE", .error(.unreachable), times: 1_000)
        #expect(try await !client.logOut())
        phone.server.change { $0.faults = [] }
        // The next process has nobody logged in, and the token of the last one.
        _ = await phone.client.catchUp()
        #expect(phone.server.change { $0.installations.isEmpty })
        #expect(try await phone.store.credentials() == nil)
    }

    /// Two users whose names are canonically equivalent, and differ in bytes.
    @Test func namesAreComparedByteForByte() async throws {
        let names = ["e\u{301}", "\u{e9}"]
        #expect(names[0] == names[1] && UserName(names[0]) != UserName(names[1]))
        let phone = try await SimulatedPhone(isLoggedIn: false) { $0.encryptsEndToEnd = true }
        phone.server.add("01")
        try await phone.credentials.logIn(userName: names[0], token: "token-1")
        try await phone.client.register(device)
        _ = await phone.push("01")
        let key = try #require(try await phone.store.envelopeKey())
        try await phone.credentials.logIn(userName: names[1], token: "token-1")
        phone.server.change { $0.items = [] }
        try await phone.client.register(device)
        #expect(await phone.screen.secrets.isEmpty)
        #expect(phone.requests.filter { $0.hasPrefix("PUT installations") }.count == 2)
        #expect(try await phone.store.envelopeKey()?.publicKey != key.publicKey)
    }

    /// A clock that jumps must not let two processes use one refresh token.
    @Test func aLeaseHoldsWhateverTheTimeOfDayIs() async throws {
        let phone = try await phone()
        let (clock, store, server) = (phone.clock, phone.store, phone.server)
        let started = clock.uptime
        try await store.update {
            $0.refreshLease = RefreshLease(process: "other", takenAt: started, boot: clock.bootID)
        }
        clock.jump(by: 86_400)
        let count = server.requests.count
        _ = try await phone.credentials.credentials()
        // The simulated time passes while it waits for the end of the lease.
        #expect(clock.uptime - started >= 10)
        #expect(server.requests.count == count + 1)
        // One of an earlier start of the system has expired.
        try await store.update { $0.refreshLease = RefreshLease(process: "other", takenAt: clock.uptime, boot: "old") }
        clock.jump(by: 86_400)
        let again = clock.uptime
        _ = try await phone.credentials.credentials()
        #expect(clock.uptime - again < 1)
    }
}

/// The end of a process after a number of steps: from then on nothing that it does has an effect.
private final class Death: @unchecked Sendable {
    // Unchecked: the lock guards all that changes.
    private let lock = NSLock()
    private var left: Int

    init(after steps: Int) { left = steps }

    /// - Throws: once the process is dead.
    func step() throws {
        try lock.withLock {
            left -= 1
            if left < 0 { throw CancellationError() }
        }
    }
}

private struct DyingStore: ClientStore {
    let store: any ClientStore
    let death: Death

    func read() async throws -> ClientState { try await store.read() }

    func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result {
        try death.step()
        return try await store.update(change)
    }

    func credentials() async throws -> StoredCredentials? { try await store.credentials() }

    func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        try death.step()
        return try await store.replace(expected, with: new)
    }

    func envelopeKeys() async throws -> EnvelopeKeyRing { try await store.envelopeKeys() }

    func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        try death.step()
        return try await store.replace(expected, with: new)
    }

    func remember(_ envelope: EnvelopeRecord) async throws -> Bool { try await store.remember(envelope) }

    func claimLockedNotice() async -> Bool { false }
}

private struct DyingTransport: Transport {
    let server: SimulatedServer
    let death: Death

    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse {
        do { try death.step() } catch { throw TransportError.unreachable }
        return try await server.send(request, timeout: timeout, maxBytes: maxBytes)
    }
}

private struct DyingPresenter: NotificationPresenter {
    let screen: RecordingPresenter
    let death: Death

    func show(_ secret: SecretNotification) async throws {
        try death.step()
        try await screen.show(secret)
    }

    func show(_ notice: GenericNotice) async throws {
        try death.step()
        try await screen.show(notice)
    }

    func show(_ prompt: LogInPrompt) async throws {
        try death.step()
        try await screen.show(prompt)
    }

    func remove(_ ids: [PushID]) async { if (try? death.step()) != nil { await screen.remove(ids) } }

    func removePrompt() async { if (try? death.step()) != nil { await screen.removePrompt() } }

    func setBadge(_ count: Int) async { if (try? death.step()) != nil { await screen.setBadge(count) } }

    func displayedSecrets() async -> Set<PushID>? { await screen.displayedSecrets() }
}
