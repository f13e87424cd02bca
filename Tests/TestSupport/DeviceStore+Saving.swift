package import Domain
import Foundations

/// Fills a store with devices, whatever it holds.
extension DeviceStore {
    package func save(_ installation: Installation) async throws {
        try await change(
            .installation, installation.id, .saveInstallation(installation, handles: [installation.handle]))
    }

    package func save(_ registration: Registration) async throws {
        let handles = registration.handle.map { [$0] } ?? []
        try await change(.registration, registration.id, .saveRegistration(registration, handles: handles))
    }

    package func removeInstallation(_ id: String) async throws { try await change(.installation, id, .remove) }

    package func removeRegistration(_ id: String) async throws { try await change(.registration, id, .remove) }

    private func change(_ kind: DeviceLease.Kind, _ id: String, _ change: DeviceLease.Change) async throws {
        guard case .leased(let lease) = try await lease(kind, id, if: .any, now: .now),
            try await end(lease, change, now: .now)
        else { throw StorageError(.failed, "The device \(id) is being changed by another call.") }
    }
}
