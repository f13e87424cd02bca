import DequeModule
import Synchronization

/// The simulated devices: their open streams, the push that waits for each, and what each says it shows.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [String: Device] = [:]
        var lastStream = 0
    }

    private let capacity: Int
    private let feed: EventFeed
    private let state = Mutex(State())

    /// - Parameter capacity: how many devices are kept; past it, unregistered ones without a stream are forgotten.
    init(capacity: Int, feed: EventFeed) {
        self.capacity = capacity
        self.feed = feed
    }

    /// Hands a push to every open stream of the device, or keeps it as the newest that waits.
    func deliver(_ push: DevicePush, to handle: String) {
        let streams = withDevice(handle) { device in
            device.platform = device.platform ?? push.platform
            if device.streams.isEmpty {
                device.pending = push
            } else {
                Self.keep(push, in: &device.received)
            }
            return device.streams.isEmpty ? [] : Array(device.streams.values)
        }
        if !streams.isEmpty, let data = try? EmulatorJSON.encode(push) {
            let event = ServerSentEvent(event: "notification", data: data)
            for stream in streams { stream.yield(event) }
        }
        publish(handle)
    }

    /// Opens a stream of what the device receives, beginning with the push that waits.
    func connect(_ handle: String) -> AsyncStream<ServerSentEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServerSentEvent.self, bufferingPolicy: .bufferingNewest(1000))
        let id = nextStream()
        withDevice(handle) { device in
            device.streams[id] = continuation
            device.hasConnected = true
            guard let push = device.pending, let data = try? EmulatorJSON.encode(push) else { return }
            device.pending = nil
            Self.keep(push, in: &device.received)
            continuation.yield(ServerSentEvent(event: "notification", data: data))
        }
        continuation.onTermination = { [weak self] _ in self?.disconnect(handle, id) }
        publish(handle)
        return stream
    }

    /// Whether a device of this handle is registered or ever connected.
    func knows(_ handle: String) -> Bool {
        let key = handle.lowercased()
        return state.withLock { state in state.devices[key].map { $0.isRegistered || $0.hasConnected } ?? false }
    }

    func noteRegistration(_ registration: Registration, isRegistered: Bool) {
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

    func display(_ display: DeviceDisplay) {
        withDevice(display.handle) { Self.keep(display, in: &$0.displays) }
        feed.publish(.display, display)
    }

    var summaries: [DeviceSummary] {
        state.withLock { $0.devices.values.map(DeviceSummary.init) }.sorted { $0.handle < $1.handle }
    }

    /// Forgets what devices received and showed, and devices that are neither registered nor connected.
    func clear() {
        state.withLock { state in
            state.devices = state.devices.filter { !$0.value.streams.isEmpty || $0.value.isRegistered }
            for key in state.devices.keys {
                state.devices[key]?.pending = nil
                state.devices[key]?.received = []
                state.devices[key]?.displays = []
            }
        }
    }

    private func nextStream() -> Int {
        state.withLock { state in
            state.lastStream += 1
            return state.lastStream
        }
    }

    private func disconnect(_ handle: String, _ id: Int) {
        withDevice(handle) { _ = $0.streams.removeValue(forKey: id) }
        publish(handle)
    }

    /// Handles are compared without regard to case: the hub keeps Apple's tokens in upper case.
    private func withDevice<Result>(_ handle: String, _ body: (inout Device) -> Result) -> Result {
        let key = handle.lowercased()
        return state.withLock { state in
            if state.devices.count >= capacity, state.devices[key] == nil,
                let idle = state.devices.first(where: \.value.isIdle)?.key
            {
                state.devices[idle] = nil
            }
            return body(&state.devices[key, default: Device(handle: handle)])
        }
    }

    private func publish(_ handle: String) {
        feed.publish(.device, state.withLock { $0.devices[handle.lowercased()].map(DeviceSummary.init) })
    }

    private static func keep<Element>(_ element: Element, in deque: inout Deque<Element>) {
        if deque.count >= Device.keptForPage { deque.removeFirst() }
        deque.append(element)
    }
}
