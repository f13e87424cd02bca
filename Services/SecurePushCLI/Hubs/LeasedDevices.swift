import SecurePushCore

/// Changes devices one at a time per device, with the same leases as the services.
struct LeasedDevices: Sendable {
    typealias Source = DeviceStore

    let store: any Source

    /// Runs a closure with the lease of a device. The store keeps the device as it is.
    ///
    /// - Parameter body: gets the device as it is stored, or `nil` if it is not stored any more.
    /// - Throws: ``DeviceIsBusy`` if another request holds the lease, ``StorageError``, and the errors of `body`.
    func change<Value>(
        _ reference: DeviceReference, _ body: (StoredDevice?, DeviceLease) async throws -> Value
    ) async throws -> Value {
        let outcome = try await store.lease(reference.kind, reference.id, if: .any, now: .now)
        guard case .leased(let lease) = outcome else { throw DeviceIsBusy() }
        do {
            let value = try await body(stored(reference), lease)
            _ = try await store.end(lease, .keep, now: .now)
            return value
        } catch let error as PushGatewayError where !lease.isInDoubt {
            // What is unknown now is in the places.
            _ = try await store.end(lease, .keep, now: .now)
            throw error
        } catch {
            // If this fails too, the lease expires by itself.
            try? await store.expire(lease, now: .now)
            throw error
        }
    }

    private func stored(_ reference: DeviceReference) async throws -> StoredDevice? {
        switch reference.kind {
        case .installation: try await store.installation(reference.id).map(StoredDevice.installation)
        case .registration: try await store.registration(reference.id).map(StoredDevice.registration)
        }
    }
}

/// A service holds the device's lease, or the hub may differ from the store.
struct DeviceIsBusy: Error {
    /// For the list of failures.
    static let reason = "the services are changing it"
}
