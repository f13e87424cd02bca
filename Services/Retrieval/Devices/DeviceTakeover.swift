import SecurePushCore

/// "A handle is the device": whoever presents it takes it over from whoever had it, so that a device that changed hands
/// wakes for its new user only. Registrations and installations alike, in the hub and here.
struct DeviceTakeover: Sendable {
    let registrations: any RegistrationGateway
    let installations: any InstallationGateway
    let store: any RegistrationStore & InstallationStore

    /// What has the handle and stays.
    enum Keeping: Sendable {
        case nothing
        case registration(String)
        case installation(String)
    }

    /// Removes whatever else has this handle; the hub's first, so that nothing is forgotten here that is still there.
    func removeOthers(with handle: String, keeping: Keeping) async throws {
        // By bytes: canonically equivalent IDs are different ones.
        var registrationIDs: [[UInt8]: String] = [:]
        var installationIDs: [[UInt8]: String] = [:]
        for handle in DeviceHandle.spellings(handle) {
            for found in try await registrations.registrations(handle: handle) {
                if let id = found.installationID {
                    installationIDs[Array(id.utf8)] = id
                } else {
                    registrationIDs[Array(found.id.utf8)] = found.id
                }
            }
            for id in try await store.registrations(handle: handle).map(\.id) { registrationIDs[Array(id.utf8)] = id }
            for id in try await store.installations(handle: handle).map(\.id) { installationIDs[Array(id.utf8)] = id }
        }
        for id in registrationIDs.values where !keeping.keepsRegistration(id) {
            try await registrations.deleteRegistration(id)
            try await store.removeRegistration(id)
        }
        for id in installationIDs.values where !keeping.keepsInstallation(id) {
            try await installations.deleteInstallation(id)
            try await store.removeInstallation(id)
        }
    }
}

extension DeviceTakeover.Keeping {
    fileprivate func keepsRegistration(_ id: String) -> Bool {
        if case .registration(let kept) = self { kept.utf8.elementsEqual(id.utf8) } else { false }
    }

    /// The hub may list an installation's ID in another case than it was given.
    fileprivate func keepsInstallation(_ id: String) -> Bool {
        if case .installation(let kept) = self { kept.equalsIgnoringASCIICase(id) } else { false }
    }
}
