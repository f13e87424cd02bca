import Domain
import Foundations

/// A handle identifies a device: a user who presents it takes the device over from its previous owner, so that a device
/// that changed hands wakes for its new user only. This applies to registrations and installations, in the hub and in
/// the store.
///
/// The store tells which devices have a handle. Devices that were registered without this service are found by
/// ``NewHandleSearch``, once per handle that is new here and after the response, because the hub allows few listings
/// per minute.
extension DeviceChanges {
    /// The device that has the handle and stays.
    struct KeptDevice: Sendable {
        var kind: DeviceLease.Kind
        var id: String
    }

    /// Removes all other devices with this handle, from the hub first.
    func removeOthers(with handle: String, keeping kept: KeptDevice?) async throws {
        let handles = DeviceHandle.spellings(handle)
        for handle in handles {
            // An ID whose device has not been registered yet stays: the hub does not know its handle.
            for found in try await store.registrations(handle: handle) where found.platform != nil {
                try await remove(.registration, found.id, handles, keeping: kept)
            }
            for id in try await store.installations(handle: handle).map(\.id) {
                try await remove(.installation, id, handles, keeping: kept)
            }
        }
    }

    /// Keeps only the newest registration with this handle. Call it after saving one.
    ///
    /// Two registrations that are made at once do not see each other in ``removeOthers(with:keeping:)``, because a
    /// registration has its handle only when it is saved. The one that is saved last sees both here.
    func keepNewestRegistration(of handle: String) async throws {
        let handles = DeviceHandle.spellings(handle)
        var found: [Registration] = []
        for handle in handles {
            found += try await store.registrations(handle: handle).filter { $0.platform != nil }
        }
        let newest = found.max { ($0.updatedAt, $0.id) < ($1.updatedAt, $1.id) }
        for other in found where other.id != newest?.id {
            try await remove(.registration, other.id, if: .holding(handles), because: .takeover)
        }
    }

    private func remove(
        _ kind: DeviceLease.Kind, _ id: String, _ handles: [String], keeping kept: KeptDevice?
    ) async throws {
        var wait = Self.maxWait
        if let kept {
            if kept.kind == kind, kept.id.equalsIgnoringASCIICase(id) { return }
            // If two requests each hold the device that the other one wants, one of them gives up early.
            let (own, other) = (DeviceID.folded(kept.id), DeviceID.folded(id))
            if (kept.kind.rawValue, own) > (kind.rawValue, other) { wait = Self.shortWait }
        }
        try await remove(kind, id, if: .holding(handles), because: .takeover, wait: wait)
    }
}
