import SecurePushCore
import Synchronization

/// The registrations of a hub in memory; it fails as a test says.
final class FakeHub: RegistrationGateway {
    struct Device: Equatable, Sendable {
        var platform: RegistrationPlatform
        var handle: String
        var tags: [String]
    }

    private struct State {
        var next = 1
        var devices: [String: Device] = [:]
        var error: PushGatewayError?
        /// Fails puts only.
        var putError: PushGatewayError?
    }

    private let state = Mutex(State())

    var devices: [String: Device] { state.withLock { $0.devices } }

    func fail(_ error: PushGatewayError?) { state.withLock { $0.error = error } }
    func failPuts(_ error: PushGatewayError?) { state.withLock { $0.putError = error } }
    /// A registration that was made past this system.
    func plant(_ id: String, _ device: Device) { state.withLock { $0.devices[id] = device } }

    func createRegistrationID() async throws -> String {
        try state.withLock { state in
            if let error = state.error { throw error }
            defer { state.next += 1 }
            return "\(state.next)-hub-1"
        }
    }

    func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws {
        try state.withLock { state in
            if let error = state.error ?? state.putError { throw error }
            state.devices[id] = Device(platform: platform, handle: handle, tags: tags)
        }
    }

    func registrationIDs(handle: String) async throws -> [String] {
        try state.withLock { state in
            if let error = state.error { throw error }
            return state.devices.filter { $0.value.handle == handle }.keys.sorted()
        }
    }

    func deleteRegistration(_ id: String) async throws {
        try state.withLock { state in
            if let error = state.error { throw error }
            state.devices[id] = nil
        }
    }
}
