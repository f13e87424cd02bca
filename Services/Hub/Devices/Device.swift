import DequeModule
import Domain
import Foundations
import HTTPTypes

/// A simulated device, known by its handle.
struct Device: Sendable {
    /// The maximum number of pushes, and of displays, that are kept for the page.
    static let keptForPage = 20
    /// The maximum length of a handle: far more than that of any push service.
    static let maxHandleBytes = 4096
    static let handleTooLong = HubError.badRequest("The device's handle is longer than \(maxHandleBytes) bytes.")

    let handle: String
    var platform: NotificationFormat?
    var tags: [String] = []
    /// The IDs of the registrations with its handle.
    var registrationIDs: Set<String> = []
    /// Whether it has ever opened its stream.
    var hasConnected = false
    var streams: [Int: EventQueue] = [:]
    /// The newest push that was not received. A real push service keeps no more for a device that is off.
    var pending: DevicePush?
    var received: Deque<DevicePush> = []
    var displays: Deque<DeviceDisplay> = []
    /// Whether the registry's order of devices with kept data contains it.
    var isInKeptOrder = false

    var isRegistered: Bool { !registrationIDs.isEmpty }

    /// Whether only its display refers to it.
    var isIdle: Bool { streams.isEmpty && !isRegistered }

    /// Whether it can be dropped to make space. The store knows of its registrations, and the next push makes it again.
    var isReplaceable: Bool {
        isIdle || streams.isEmpty && pending == nil && received.isEmpty && displays.isEmpty
    }

    /// The approximate memory of its pushes and displays, in bytes.
    var keptBytes: Int {
        (pending?.byteCount ?? 0) + received.reduce(0) { $0 + $1.byteCount } + displays.reduce(0) { $0 + $1.byteCount }
    }

    /// Drops the data for the page or, if there is none, the waiting push.
    mutating func dropKept() {
        guard !displays.isEmpty || !received.isEmpty else {
            pending = nil
            return
        }
        displays = []
        received = []
    }

    /// Removes what it shows of a notification.
    mutating func removeDisplays(of id: String?) {
        guard let id else { return }
        displays.removeAll { $0.id == id }
    }

    /// The device in the emulator's own API.
    var json: JSONValue {
        JSONValue([
            "Connected": .boolean(!streams.isEmpty),
            "Displays": .array(displays.map(\.json)),
            "Handle": .string(handle),
            "Platform": .optional(platform?.rawValue),
            "Received": .array(received.map(\.json)),
            "Registered": .boolean(isRegistered),
            "Tags": JSONValue(strings: tags),
            "Waiting": .boolean(pending != nil),
        ])
    }
}

/// A push to a simulated device, as the platform's push service delivers it.
struct DevicePush: Sendable {
    let platform: NotificationFormat
    let body: [UInt8]
    /// The headers of the send, of which the device gets the pass-through ones.
    let requestHeaders: HTTPFields
    /// The headers of the device's template, which replace those of the send.
    let templateHeaders: [String: String]?
    let messageID: String
    let receivedAt: Timestamp

    /// The approximate memory, in bytes.
    var byteCount: Int { 200 + body.count + requestHeaders.byteCount }

    /// The push in the emulator's own API.
    var json: JSONValue {
        JSONValue([
            "Body": .string(String(decoding: body, as: UTF8.self)),
            "Headers": JSONValue(
                templateHeaders ?? PassThroughHeaders.select(from: requestHeaders, platform: platform), JSONValue.string
            ),
            "MessageId": .string(messageID),
            "Platform": .string(platform.rawValue),
            "ReceivedAt": .string(receivedAt.description),
        ])
    }
}

/// The text that a simulated device shows to its user. Only the page uses it.
struct DeviceDisplay: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// The payload, which the device fetched.
        case payload
        /// The generic text, shown when the payload could not be fetched.
        case prompt
    }

    let handle: String
    /// The notification's ID.
    let id: String?
    let text: String
    let kind: Kind
    let shownAt: String

    /// The approximate memory, in bytes.
    var byteCount: Int { 200 + text.utf8.count + (id?.utf8.count ?? 0) }

    /// The display in the emulator's own API.
    var json: JSONValue {
        JSONValue([
            "Handle": .string(handle), "Id": .optional(id), "Kind": .string(kind.rawValue),
            "ShownAt": .string(shownAt), "Text": .string(text),
        ])
    }
}
