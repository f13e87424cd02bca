import DequeModule

/// A simulated device, known by its handle.
struct Device: Sendable {
    /// How many pushes and displays are kept for the page.
    static let keptForPage = 20
    /// How long a handle may be: far above what push services give out.
    static let maxHandleBytes = 4096
    static let handleTooLong = HubError.badRequest("The device's handle is longer than \(maxHandleBytes) bytes.")

    let handle: String
    var platform: NotificationFormat?
    var tags: [String] = []
    /// The IDs of the registrations that have its handle.
    var registrationIDs: Set<String> = []
    /// Whether it ever opened its stream.
    var hasConnected = false
    var streams: [Int: EventQueue] = [:]
    /// The newest push that nobody has received: all that a real push service keeps for a device that is off.
    var pending: DevicePush?
    var received: Deque<DevicePush> = []
    var displays: Deque<DeviceDisplay> = []
    /// Whether the registry has it in the order of what is kept.
    var isInKeptOrder = false

    var isRegistered: Bool { !registrationIDs.isEmpty }

    /// Whether it may be forgotten when room is needed.
    var isIdle: Bool { streams.isEmpty && !isRegistered }

    /// About how much memory is kept for the page and for its next connection.
    var keptBytes: Int {
        (pending?.byteCount ?? 0) + received.reduce(0) { $0 + $1.byteCount } + displays.reduce(0) { $0 + $1.byteCount }
    }

    /// Drops what is kept for the page, or, when that is gone, the push that waits.
    mutating func dropKept() {
        guard !displays.isEmpty || !received.isEmpty else {
            pending = nil
            return
        }
        displays = []
        received = []
    }
}

/// A device as the page and `GET /emulator/devices` see it.
struct DeviceSummary: Encodable, Sendable {
    let handle: String
    let platform: String?
    let tags: [String]
    let connected: Bool
    let registered: Bool
    let waiting: Bool
    let received: [DevicePush]
    let displays: [DeviceDisplay]

    init(_ device: Device) {
        handle = device.handle
        platform = device.platform?.rawValue
        tags = device.tags
        connected = !device.streams.isEmpty
        registered = device.isRegistered
        waiting = device.pending != nil
        received = Array(device.received)
        displays = Array(device.displays)
    }

    private enum CodingKeys: String, CodingKey {
        case handle = "Handle"
        case platform = "Platform"
        case tags = "Tags"
        case connected = "Connected"
        case registered = "Registered"
        case waiting = "Waiting"
        case received = "Received"
        case displays = "Displays"
    }
}
