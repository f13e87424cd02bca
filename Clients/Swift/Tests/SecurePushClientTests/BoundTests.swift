import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// A part of the platform that does not answer, or throws anything, keeps no secret from the user.
@Suite(.timeLimit(.minutes(10))) struct BoundTests {
    private let device = PushDevice(deviceToken: Data([0x0A, 0xFF]))

    enum Fault: CaseIterable, Sendable {
        case nothingEnds, writesHang, everythingThrows
    }

    /// A store that does not answer.
    private struct BrokenStore: ClientStore {
        let fault: Fault
        let memory = MemoryClientStore()

        private func fail(writes: Bool) async throws {
            switch fault {
            case .everythingThrows: throw CocoaError(.fileReadUnknown)
            case .writesHang where !writes: return
            case .writesHang, .nothingEnds: await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }

        func read() async throws -> ClientState {
            try await fail(writes: false)
            return try await memory.read()
        }

        func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result {
            try await fail(writes: true)
            return try await memory.update(change)
        }

        func credentials() async throws -> StoredCredentials? {
            try await fail(writes: false)
            return try await memory.credentials()
        }

        func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
            try await fail(writes: true)
            return true
        }

        func envelopeKeys() async throws -> EnvelopeKeyRing {
            try await fail(writes: false)
            return EnvelopeKeyRing()
        }

        func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
            try await fail(writes: true)
            return true
        }

        func remember(_ envelope: EnvelopeRecord) async throws -> Bool {
            try await fail(writes: true)
            return true
        }

        func claimLockedNotice() async -> Bool { true }
    }

    /// A clock on which four seconds take one, so that a wake that waits to its end takes less long.
    private struct FastClock: ClientClock {
        private let system = SystemClientClock()
        private static let factor: TimeInterval = 4

        var date: Date { system.date }
        var uptime: TimeInterval { system.uptime * Self.factor }
        func sleep(for seconds: TimeInterval) async throws { try await system.sleep(for: seconds / Self.factor) }
    }

    @Test(arguments: Fault.allCases) func withoutAStoreTheSecretIsShown(_ fault: Fault) async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url),
            credentials: FixedCredentialsProvider(userName: "alice", credentials: .bearer("token-1")),
            store: BrokenStore(fault: fault), transport: phone.server, presenter: phone.screen)
        #expect(await client.handle(push: IncomingPush(data: ["secureId": "01"])).shown.map(\.rawValue) == ["01"])
        _ = try? await client.register(device)
        _ = await client.catchUp()
        _ = try? await client.unregister()
    }

    @Test(arguments: [Fault.nothingEnds, .everythingThrows])
    func withoutAStoreForTheCredentialsTheGenericTextComes(_ fault: Fault) async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        let (store, clock) = (BrokenStore(fault: fault), FastClock())
        let credentials = TokenCredentialsProvider(
            retrievalURL: SimulatedPhone.url, store: store, transport: phone.server, clock: clock)
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url), credentials: credentials,
            store: store, transport: phone.server, clock: clock, presenter: phone.screen)
        _ = await client.handle(push: IncomingPush(data: ["secureId": "01"]))
        // On a busy machine the time may be up before the last try.
        let codes = await phone.screen.noticed.map(\.code)
        #expect(codes == [.credentials] || codes == [.timedOut])
        // That the name is not known does not mean that nobody is logged in.
        await #expect(throws: SecurePushFailure(code: .credentials)) { try await client.register(device) }
        try? await credentials.logOut()
    }
}
