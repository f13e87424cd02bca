import Foundation
import SecurePushClient

/// The device's storage. It outlives the processes.
///
/// Unchecked, because only the thread of the simulation touches it.
final class SimulatedDisk: @unchecked Sendable {
    /// Coded, as a real store has it, so that what cannot be coded is found.
    fileprivate var state: Data?
    fileprivate var credentials: StoredCredentials?
    fileprivate var hasClaimedLockedNotice = false

    func read() throws -> ClientState {
        guard let state else { return ClientState() }
        do { return try JSONDecoder().decode(ClientState.self, from: state) } catch {
            throw ClientStoreError.unreadable
        }
    }

    /// The device starts again.
    func restart() { hasClaimedLockedNotice = false }

    /// Damages the file of the state.
    func corrupt() { state = Data("{\"ledger\":".utf8) }
}

/// A process's way to the storage.
struct SimulatedStore: ClientStore {
    let disk: SimulatedDisk
    let process: SimulatedProcess
    let faults: FaultPlan

    func read() async throws -> ClientState {
        try await process.call("read") {
            try await faults.store(writes: false, disk)
            return try state()
        }
    }

    func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result {
        try await process.call("update") {
            try await faults.store(writes: true, disk)
            var state = try state()
            let result = change(&state)
            disk.state = try JSONEncoder().encode(state)
            return result
        }
    }

    func credentials() async throws -> StoredCredentials? {
        try await process.call("credentials") {
            try await faults.store(writes: false, disk)
            return disk.credentials
        }
    }

    func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        try await process.call("save credentials") {
            try await faults.store(writes: true, disk)
            guard disk.credentials == expected else { return false }
            disk.credentials = new
            return true
        }
    }

    // No device of the table has a key.

    func envelopeKeys() async throws -> EnvelopeKeyRing { EnvelopeKeyRing() }

    func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        try await process.call("keep keys") {
            try await faults.store(writes: true, disk)
            return new == EnvelopeKeyRing()
        }
    }

    func remember(_ envelope: EnvelopeRecord) async throws -> Bool { true }

    func claimLockedNotice() async -> Bool {
        await process.call("claim locked notice") {
            defer { disk.hasClaimedLockedNotice = true }
            return !disk.hasClaimedLockedNotice
        }
    }

    /// As the protocol has it: a damaged state reads as an empty one.
    private func state() throws -> ClientState {
        do { return try disk.read() } catch { return ClientState() }
    }
}
