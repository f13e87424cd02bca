import Foundation
import SecurePushEnvelope

@testable import SecurePushClient

/// A device with a simulated server, clock and screen.
struct SimulatedPhone: Sendable {
    let clock: SimulatedClock
    let server: SimulatedServer
    let screen = RecordingPresenter()
    let store: any ClientStore
    let credentials: TokenCredentialsProvider
    let client: SecurePushClient
    /// Signs the pushes of ``push(_:)`` and ``withdraw(_:)``, if there is one.
    let signer: PushSigner?

    static let url = URL(string: "https://push.example.com/base") ?? URL(fileURLWithPath: "/")

    /// A phone on which alice is logged in, unless `isLoggedIn` is `false`.
    init(
        store: any ClientStore = MemoryClientStore(), keys: PushKeySet? = nil, isLoggedIn: Bool = true,
        sharing other: SimulatedPhone? = nil, signer: PushSigner? = nil,
        _ adjust: (inout SecurePushConfiguration) -> Void = { _ in }
    ) async throws {
        self.signer = signer ?? other?.signer
        clock = other?.clock ?? SimulatedClock()
        server = other?.server ?? SimulatedServer(clock: clock)
        self.store = store
        var configuration = SecurePushConfiguration(
            retrievalURL: Self.url, pushKeys: try self.signer?.keys ?? keys, refreshesPushKeys: self.signer == nil)
        adjust(&configuration)
        credentials = TokenCredentialsProvider(
            retrievalURL: Self.url, store: store, transport: server, clock: clock)
        client = SecurePushClient(
            configuration: configuration, credentials: credentials, store: store, transport: server, clock: clock,
            presenter: screen)
        if isLoggedIn { try await logIn() }
    }

    func logIn() async throws {
        try await credentials.logIn(userName: "alice", token: server.change { $0.token })
    }

    /// A silent push.
    func push(_ id: String) async -> WakeReport { await client.handle(push: incoming(id)) }

    /// A withdrawal.
    @discardableResult
    func withdraw(_ id: String) async -> WakeReport {
        await client.handle(push: incoming(id, isWithdrawal: true))
    }

    private func incoming(_ id: String, isWithdrawal: Bool = false) -> IncomingPush {
        let now = String(Int(clock.date.timeIntervalSince1970))
        if let signed = try? signer?.members(id, ts: now, isWithdrawal: isWithdrawal) {
            return IncomingPush(data: signed)
        }
        return IncomingPush(data: isWithdrawal ? ["secureId": id, "withdraw": "1"] : ["secureId": id])
    }

    /// Waits until the server has been told of everything that was shown, at most for a thousand wakes.
    func waitForReports() async {
        for _ in 0..<1_000 {
            _ = await client.catchUp()
            if (try? await store.read().unreported.isEmpty) == true { return }
            await Task.yield()
        }
    }

    /// The requests without the base path, and without reports of what was shown.
    var requests: [String] {
        server.requests.filter { !$0.hasSuffix("/shown") }.map {
            $0.replacingOccurrences(of: "/base/api/", with: "")
        }
    }
}

/// A store with errors.
actor FaultyStore: ClientStore {
    private let inner = MemoryClientStore()
    private var readError: ClientStoreError?
    private var writeError: ClientStoreError?

    func fail(reads: ClientStoreError? = nil, writes: ClientStoreError? = nil) {
        (readError, writeError) = (reads, writes)
    }

    func read() async throws -> ClientState {
        if let readError { throw readError }
        return try await inner.read()
    }

    func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result {
        if let error = writeError ?? readError { throw error }
        return try await inner.update(change)
    }

    func credentials() async throws -> StoredCredentials? {
        if let readError { throw readError }
        return try await inner.credentials()
    }

    func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        if let error = writeError ?? readError { throw error }
        return try await inner.replace(expected, with: new)
    }

    func envelopeKeys() async throws -> EnvelopeKeyRing {
        if let readError { throw readError }
        return try await inner.envelopeKeys()
    }

    func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        if let error = writeError ?? readError { throw error }
        return try await inner.replace(expected, with: new)
    }

    func remember(_ envelope: EnvelopeRecord) async throws -> Bool {
        if let error = writeError ?? readError { throw error }
        return try await inner.remember(envelope)
    }

    func claimLockedNotice() async -> Bool { await inner.claimLockedNotice() }
}

extension ClientStore {
    /// The device's newest key for end-to-end encryption.
    func envelopeKey() async throws -> (any EnvelopePrivateKey)? { try await envelopeKeys().newest }

    /// Loses the keys.
    func loseKeys() async throws { try await changeEnvelopeKeys { $0 = EnvelopeKeyRing() } }
}
