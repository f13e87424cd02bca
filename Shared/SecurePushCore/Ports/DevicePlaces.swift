/// A hub at which a device is registered, or may be. Only systems with several hubs (`HUB_POOL_FILE`) store places: a
/// device without any was registered at the single hub.
package struct DevicePlace: Sendable, Hashable {
    /// The hub's name in lower case.
    package var hub: String
    /// The fingerprint of the device as the hub has it (``StoredDevice/fingerprint``); `nil` if that is unknown: a
    /// request was not answered, or the hub may have an older version of the device.
    package var content: Int64?

    /// Makes a place.
    package init(hub: String, content: Int64? = nil) {
        self.hub = hub
        self.content = content
    }
}

/// The places of devices. ``DevicePlacer`` changes them.
package protocol DevicePlaces: Sendable {
    /// The places of devices of one kind, each list in the order of the hubs' names.
    ///
    /// - Parameter ids: case does not matter.
    /// - Returns: by the folded ID (``DeviceID/folded(_:)``). A device without places is absent.
    func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]]

    /// Replaces all places of the device of a lease.
    ///
    /// - Parameter places: at most one per hub.
    /// - Returns: false if the lease is not held any more. Nothing is changed then.
    func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool

    /// Devices that have places and are not stored any more, in the order of their folded IDs.
    ///
    /// - Parameter id: only devices after this folded ID.
    func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference]
}
