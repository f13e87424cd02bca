import SecurePushCore

/// "A handle is the device": a user who presents it takes it over from its previous owner, so that a device that
/// changed hands wakes for its new user only. Registrations and installations alike, in the hub and here.
///
/// Our own copy tells who has a handle. Devices that were registered past this system are the work of
/// ``NewHandleSearch``, once for each handle that is new here and after the answer, because the hub allows few listings
/// a minute.
struct DeviceTakeover: Sendable {
    let changes: DeviceChanges

    /// The device that has the handle and stays.
    struct Keeping: Sendable {
        var kind: DeviceLease.Kind
        var id: String
    }

    /// Removes all other devices that have this handle, in the hub first.
    func removeOthers(with handle: String, keeping kept: Keeping?) async throws {
        let handles = DeviceHandle.spellings(handle)
        for handle in handles {
            // An ID whose device has not been registered yet stays: it has the handle in name only.
            for found in try await changes.store.registrations(handle: handle) where found.platform != nil {
                try await remove(.registration, found.id, handles, keeping: kept)
            }
            for id in try await changes.store.installations(handle: handle).map(\.id) {
                try await remove(.installation, id, handles, keeping: kept)
            }
        }
    }

    /// Keeps the newest of the registrations that have this handle, to be called once one is saved.
    ///
    /// Two that are made at once do not see each other in ``removeOthers(with:keeping:)``, since a registration has its
    /// handle only when it is saved. The one that is saved last sees both here.
    func keepNewestRegistration(of handle: String) async throws {
        let handles = DeviceHandle.spellings(handle)
        var found: [Registration] = []
        for handle in handles {
            found += try await changes.store.registrations(handle: handle).filter { $0.platform != nil }
        }
        let newest = found.max { ($0.updatedAt, $0.id) < ($1.updatedAt, $1.id) }
        for other in found where other.id != newest?.id {
            try await changes.remove(.registration, other.id, if: .holding(handles), wait: DeviceChanges.maxWait)
        }
    }

    private func remove(
        _ kind: DeviceLease.Kind, _ id: String, _ handles: [String], keeping kept: Keeping?
    ) async throws {
        var wait = DeviceChanges.maxWait
        if let kept {
            if kept.kind == kind, kept.id.equalsIgnoringASCIICase(id) { return }
            // Of two requests that each have the device that the other one wants, one gives up soon.
            let (own, other) = (DeviceID.folded(kept.id), DeviceID.folded(id))
            if (kept.kind.rawValue, own) > (kind.rawValue, other) { wait = DeviceChanges.shortWait }
        }
        try await changes.remove(kind, id, if: .holding(handles), wait: wait)
    }
}
