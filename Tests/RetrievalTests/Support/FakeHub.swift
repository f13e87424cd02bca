import Domain
import Synchronization
import Testing

/// The registrations and installations of a hub in memory; it fails as a test says. As in the real one, IDs that differ
/// in case only are one: the dictionaries hold them folded.
final class FakeHub: RegistrationGateway, InstallationGateway {
    struct Device: Equatable, Sendable {
        var platform: RegistrationPlatform
        var handle: String
        var tags: [String]
    }

    /// An installation, as the hub knows it.
    struct Installed: Equatable, Sendable {
        var handle: String
        var document: String
    }

    private struct State {
        var next = 1
        var devices: [String: Device] = [:]
        var installations: [String: Installed] = [:]
        var error: PushGatewayError?
        /// Fails puts only.
        var putError: PushGatewayError?
        /// Fails deletions only.
        var deletionError: PushGatewayError?
        /// Fails listings only.
        var listingError: PushGatewayError?
        var listings = 0
        /// Puts that are done, and whose answer is lost.
        var lostPuts = 0
        /// Paths that the hub was asked for.
        var ids: [String] = []

        mutating func loseAnswer() throws {
            guard lostPuts > 0 else { return }
            lostPuts -= 1
            throw PushGatewayError(.unavailable, "no answer")
        }
    }

    private let state = Mutex(State())

    var devices: [String: Device] { state.withLock { $0.devices } }
    var installations: [String: Installed] { state.withLock { $0.installations } }

    func fail(_ error: PushGatewayError?) { state.withLock { $0.error = error } }
    func failPuts(_ error: PushGatewayError?) { state.withLock { $0.putError = error } }
    func failDeletions(_ error: PushGatewayError?) { state.withLock { $0.deletionError = error } }
    func failListings(_ error: PushGatewayError?) { state.withLock { $0.listingError = error } }
    func loseAnswers(ofPuts count: Int) { state.withLock { $0.lostPuts = count } }
    /// How often registrations were listed, failed listings included.
    var listings: Int { state.withLock { $0.listings } }
    /// The IDs of all puts and deletions.
    var ids: [String] { state.withLock { $0.ids } }
    /// A registration that was made past this system.
    func plant(_ id: String, _ device: Device) { state.withLock { $0.devices[id] = device } }
    /// An installation that was made past this system.
    func plant(_ id: String, _ installed: Installed) { state.withLock { $0.installations[id] = installed } }

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
            state.ids.append(id)
            if let error = state.error ?? state.putError { throw error }
            state.devices[DeviceID.folded(id)] = Device(platform: platform, handle: handle, tags: tags)
            try state.loseAnswer()
        }
    }

    /// Installations show up among the registrations, as in the real hub.
    func registrations(handle: String) async throws -> [HubRegistration] {
        try state.withLock { state in
            state.listings += 1
            if let error = state.error ?? state.listingError { throw error }
            let devices = state.devices.filter { $0.value.handle == handle }.keys.sorted()
            let mirrors = state.installations.filter { $0.value.handle == handle }.keys.sorted()
            return devices.map { HubRegistration(id: $0) }
                + mirrors.map { HubRegistration(id: "mirror-of-\($0)", installationID: $0) }
        }
    }

    func deleteRegistration(_ id: String) async throws {
        try state.withLock { state in
            state.ids.append(id)
            if let error = state.error ?? state.deletionError { throw error }
            // In the real hub this would take the installation's pushes away.
            #expect(!id.hasPrefix("mirror-of-"), "a mirror goes with its installation")
            state.devices[DeviceID.folded(id)] = nil
        }
    }

    func putInstallation(_ id: String, document: [UInt8]) async throws {
        try state.withLock { state in
            state.ids.append(id)
            if let error = state.error ?? state.putError { throw error }
            let document = String(decoding: document, as: UTF8.self)
            let installed = Installed(handle: FakeHub.handle(in: document), document: document)
            state.installations[DeviceID.folded(id)] = installed
            try state.loseAnswer()
        }
    }

    func deleteInstallation(_ id: String) async throws {
        try state.withLock { state in
            state.ids.append(id)
            if let error = state.error ?? state.deletionError { throw error }
            state.installations[DeviceID.folded(id)] = nil
        }
    }

    /// The text after `"pushChannel":"`, or `"endpoint":"` of a browser's channel.
    private static func handle(in document: String) -> String {
        for name in [#""pushChannel":""#, #""endpoint":""#] {
            guard let start = document.firstRange(of: name) else { continue }
            return String(document[start.upperBound...].prefix { $0 != "\"" })
        }
        return ""
    }
}
