import DequeModule
import Foundations
import NIOCore
import Synchronization

/// The simulated devices: their open streams, pushes and displays. All of them are bounded.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [String: Device] = [:]
        var lastStream = 0
        var streamCount = 0
        /// The sum of the devices' ``Device/keptBytes``.
        var keptBytes = 0
        /// The devices with kept data, and some that are gone, the oldest first.
        var keptOrder: Deque<String> = []
        /// All devices, in the order in which they may have to make room.
        var order: Deque<String> = []
    }

    /// How many devices are examined to make room for one, so that the cost of a push does not grow with their number.
    private static let maxLooks = 64

    /// The maximum number of open streams; the queue of each holds at most ``EventQueue/maxBytes``.
    static let maxStreams = 10_000
    /// The approximate maximum of the memory of pushes and displays. Bodies are shared with the records, and counted
    /// in both.
    static let defaultMaxKeptBytes = 128 * 1024 * 1024

    private let capacity: Int
    private let maxKeptBytes: Int
    private let feed: EventFeed
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: the maximum number of devices. Beyond it, a replaceable one is dropped (``Device/isReplaceable``),
    ///     or else one without a stream. If all have streams, new devices are refused.
    ///   - maxKeptBytes: the approximate maximum of the memory of pushes and displays; the oldest are dropped first.
    init(capacity: Int, maxKeptBytes: Int = defaultMaxKeptBytes, feed: EventFeed) {
        self.capacity = capacity
        self.maxKeptBytes = maxKeptBytes
        self.feed = feed
    }

    var hasStreamCapacity: Bool { state.withLock { $0.streamCount < Self.maxStreams } }

    /// The queue of each open stream.
    var queues: [EventQueue] { state.withLock { $0.devices.values.flatMap(\.streams.values) } }

    /// The number of devices, and the approximate memory of their pushes and displays.
    var size: (devices: Int, keptBytes: Int) { state.withLock { ($0.devices.count, $0.keptBytes) } }

    /// Delivers a push to every open stream of the device, or keeps it as the waiting one.
    ///
    /// - Parameter registrationID: of the registration that it came by. So a device that registered before the last
    ///   restart is known again.
    func deliver(_ push: DevicePush, to handle: String, registrationID: String? = nil) {
        let streams: [EventQueue] =
            withDevice(handle) { device in
                device.platform = device.platform ?? push.platform
                if let registrationID { device.registrationIDs.insert(registrationID) }
                if device.streams.isEmpty {
                    device.pending = push
                } else {
                    Self.keep(push, in: &device.received)
                }
                return Array(device.streams.values)
            } ?? []
        if !streams.isEmpty {
            let event = ByteBuffer(event: "notification", push.json)
            for stream in streams { stream.put(event) }
        }
        publish(handle)
    }

    /// Opens a stream of the pushes to a device, beginning with the waiting one.
    ///
    /// - Returns: a queue that is finished already when there are too many streams or devices.
    func connect(_ handle: String) -> EventQueue {
        let id = takeStream()
        let queue = EventQueue { [weak self] in
            if let id { self?.disconnect(handle, id) }
        }
        guard let id else {
            queue.finish()
            return queue
        }
        let isAdded: Void? = withDevice(handle) { device in
            device.streams[id] = queue
            device.hasConnected = true
            guard let push = device.pending else { return }
            device.pending = nil
            Self.keep(push, in: &device.received)
            queue.put(ByteBuffer(event: "notification", push.json))
        }
        if isAdded == nil { queue.finish() }
        publish(handle)
        return queue
    }

    /// Whether a device with this handle is registered or has ever connected.
    func knows(_ handle: String) -> Bool {
        let key = handle.lowercased()
        return state.withLock { state in state.devices[key].map { $0.isRegistered || $0.hasConnected } ?? false }
    }

    func noteRegistration(_ registration: RegistrationEntry, isRegistered: Bool) {
        withDevice(registration.handle) { device in
            device.platform = registration.format
            device.tags = isRegistered ? registration.tags : []
            if isRegistered {
                device.registrationIDs.insert(registration.id)
            } else {
                device.registrationIDs.remove(registration.id)
            }
        }
        publish(registration.handle)
    }

    /// Shows a text in place of an earlier one of the same notification, as real devices do.
    func display(_ display: DeviceDisplay) {
        withDevice(display.handle) { device in
            device.removeDisplays(of: display.id)
            Self.keep(display, in: &device.displays)
        }
        feed.publish(.display, display.json)
    }

    /// Removes the texts that a device shows of a notification: it was withdrawn, or its text is no longer true.
    func removeDisplays(of id: String, on handle: String) {
        guard state.withLock({ $0.devices[handle.lowercased()] != nil }) else { return }
        withDevice(handle) { $0.removeDisplays(of: id) }
        publish(handle)
    }

    /// The devices in order of their handles.
    var all: [Device] { state.withLock { Array($0.devices.values) }.sorted { $0.handle < $1.handle } }

    /// Drops all pushes and displays, and the devices without a registration and a stream.
    func clear() {
        state.withLock { state in
            state.devices = state.devices.filter { !$0.value.isIdle }
            let devices = state.devices
            state.order.removeAll { devices[$0] == nil }
            for key in state.devices.keys {
                state.devices[key]?.pending = nil
                state.devices[key]?.received = []
                state.devices[key]?.displays = []
                state.devices[key]?.isInKeptOrder = false
            }
            state.keptBytes = 0
            state.keptOrder = []
        }
    }

    /// - Returns: the number of a new stream; nil when there are too many.
    private func takeStream() -> Int? {
        state.withLock { state in
            guard state.streamCount < Self.maxStreams else { return nil }
            state.streamCount += 1
            state.lastStream += 1
            return state.lastStream
        }
    }

    private func disconnect(_ handle: String, _ id: Int) {
        state.withLock { state in
            state.streamCount -= 1
            _ = state.devices[handle.lowercased()]?.streams.removeValue(forKey: id)
        }
        publish(handle)
    }

    /// Handles are compared without regard to case: the hub keeps Apple's tokens in upper case.
    ///
    /// - Returns: nil when there are too many devices for a new one.
    @discardableResult
    private func withDevice<Result>(_ handle: String, _ body: (inout Device) -> Result) -> Result? {
        let key = handle.lowercased()
        return state.withLock { state in
            if state.devices[key] == nil {
                if state.devices.count >= capacity { Self.dropIdle(&state) }
                guard state.devices.count < capacity else { return nil }
                state.devices[key] = Device(handle: handle)
                state.order.append(key)
            }
            guard let index = state.devices.index(forKey: key) else { return nil }
            let before = state.devices.values[index].keptBytes
            let result = body(&state.devices.values[index])
            let added = state.devices.values[index].keptBytes - before
            state.keptBytes += added
            if added > 0 {
                if !state.devices.values[index].isInKeptOrder {
                    state.devices.values[index].isInKeptOrder = true
                    state.keptOrder.append(key)
                }
                makeSpace(&state)
            }
            return result
        }
    }

    private static func dropIdle(_ state: inout State) {
        var withoutStream: String?
        for _ in 0..<min(maxLooks, state.order.count) {
            guard let key = state.order.popFirst(), let device = state.devices[key] else { continue }
            if device.isReplaceable {
                if let withoutStream { state.order.append(withoutStream) }
                return drop(key, &state)
            }
            if withoutStream == nil, device.streams.isEmpty { withoutStream = key } else { state.order.append(key) }
        }
        if let withoutStream { drop(withoutStream, &state) }
    }

    private static func drop(_ key: String, _ state: inout State) {
        state.keptBytes -= state.devices.removeValue(forKey: key)?.keptBytes ?? 0
    }

    /// Drops the oldest pushes and displays until the bound holds.
    private func makeSpace(_ state: inout State) {
        while state.keptBytes > maxKeptBytes, let oldest = state.keptOrder.popFirst() {
            guard let index = state.devices.index(forKey: oldest) else { continue }
            let before = state.devices.values[index].keptBytes
            state.devices.values[index].dropKept()
            state.keptBytes += state.devices.values[index].keptBytes - before
            state.devices.values[index].isInKeptOrder = state.devices.values[index].pending != nil
            if state.devices.values[index].isInKeptOrder { state.keptOrder.append(oldest) }
        }
        guard state.keptOrder.count > 2 * state.devices.count + 64 else { return }
        var seen: Set<String> = []
        let devices = state.devices
        state.keptOrder.removeAll { devices[$0] == nil || !seen.insert($0).inserted }
    }

    private func publish(_ handle: String) {
        feed.publish(.device, state.withLock { $0.devices[handle.lowercased()] }?.json ?? .null)
    }

    private static func keep<Element>(_ element: Element, in deque: inout Deque<Element>) {
        if deque.count >= Device.keptForPage { deque.removeFirst() }
        deque.append(element)
    }
}
