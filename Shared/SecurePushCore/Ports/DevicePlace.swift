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
