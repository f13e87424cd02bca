import DequeModule
import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// The live feed of the page: all events, for all listeners. It does no work without listeners.
final class EventFeed: Sendable {
    enum Event: String, Sendable {
        case record, device, display, faults, cleared
    }

    /// The maximum number of listeners; the queue of each holds at most ``EventQueue/maxBytes``.
    static let maxListeners = 256

    private let listeners = Mutex<[Int: EventQueue]>([:])
    private let nextID = Atomic<Int>(0)

    /// The queue of each listener.
    var queues: [EventQueue] { listeners.withLock { Array($0.values) } }

    var hasCapacity: Bool { listeners.withLock { $0.count < Self.maxListeners } }

    func publish(_ event: Event, _ value: @autoclosure () -> JSONValue) {
        guard listeners.withLock({ !$0.isEmpty }) else { return }
        let message = ByteBuffer(event: event.rawValue, value())
        listeners.withLock { listeners in
            for listener in listeners.values { listener.put(message) }
        }
    }

    /// - Returns: a queue of the events from now on; it is finished already when there are too many listeners.
    func listen() -> EventQueue {
        let id = nextID.add(1, ordering: .relaxed).newValue
        let queue = EventQueue { [weak self] in self?.remove(id) }
        let isAdded = listeners.withLock { listeners in
            guard listeners.count < Self.maxListeners else { return false }
            listeners[id] = queue
            return true
        }
        if !isAdded { queue.finish() }
        return queue
    }

    private func remove(_ id: Int) { listeners.withLock { listeners in listeners[id] = nil } }
}

/// The events that wait for one reader of an event stream.
///
/// Bounded in number and in bytes: a reader that is too slow loses the oldest events, and an event `dropped` with
/// `{"Count":…}` tells it how many. One writer takes events out; any task may put them in.
final class EventQueue: Sendable {
    /// The maximum number of waiting events.
    static let maxEvents = 1000
    /// The maximum of their bytes; a single event may be larger.
    static let maxBytes = 1024 * 1024

    private struct State {
        var waiting: Deque<ByteBuffer> = []
        var byteCount = 0
        var dropped = 0
        /// Dropped since the last `dropped` event.
        var unreported = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let bell: AsyncStream<Void>.Continuation
    private let onFinish: @Sendable () -> Void
    /// Rings when events wait, and ends when the stream does. For the one writer.
    let rings: AsyncStream<Void>

    /// - Parameter onFinish: called once, when the stream has ended.
    init(onFinish: @escaping @Sendable () -> Void = {}) {
        self.onFinish = onFinish
        (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of events that the reader has lost.
    var droppedCount: Int { state.withLock { $0.dropped } }
    /// The number of waiting events and of their bytes.
    var waiting: (events: Int, bytes: Int) { state.withLock { ($0.waiting.count, $0.byteCount) } }

    /// - Parameter event: encoded; all queues share its memory.
    func put(_ event: ByteBuffer) {
        let isOpen = state.withLock { state in
            guard !state.isFinished else { return false }
            state.waiting.append(event)
            state.byteCount += event.readableBytes
            while state.waiting.count > 1,
                state.waiting.count > Self.maxEvents || state.byteCount > Self.maxBytes
            {
                state.byteCount -= state.waiting.removeFirst().readableBytes
                state.dropped += 1
                state.unreported += 1
            }
            return true
        }
        if isOpen { bell.yield() }
    }

    /// Puts a comment in if no event waits, so that the connection is never silent for long.
    func putHeartbeat() {
        let isIdle = state.withLock { $0.waiting.isEmpty && !$0.isFinished }
        if isIdle { put(ByteBuffer(string: ": heartbeat\n\n")) }
    }

    /// The next event; nil when none waits.
    func take() -> ByteBuffer? {
        state.withLock { state in
            if state.unreported > 0 {
                let count = state.unreported
                state.unreported = 0
                return ByteBuffer(event: "dropped", JSONValue(["Count": .integer(count)]))
            }
            guard let first = state.waiting.popFirst() else { return nil }
            state.byteCount -= first.readableBytes
            return first
        }
    }

    /// Ends the stream and drops the waiting events.
    func finish() {
        let isFirst = state.withLock { state in
            defer {
                state.isFinished = true
                state.waiting = []
                state.byteCount = 0
                state.unreported = 0
            }
            return !state.isFinished
        }
        guard isFirst else { return }
        bell.finish()
        onFinish()
    }
}

extension ByteBuffer {
    /// One event of an event stream (HTML Standard, 9.2).
    init(event: String, _ value: JSONValue) { self.init(string: "event: \(event)\ndata: \(value.json)\n\n") }
}

/// A response with an event stream that lasts until the client disconnects or the service drains.
///
/// An event is written as soon as the connection is writable. ``EventQueue`` bounds what waits meanwhile.
enum EventStreamResponse {
    /// The interval of comments, with which proxies keep the connection and we notice a dead one.
    static let heartbeat = Duration.seconds(15)
    /// The time to write the end of a stream. After it the connection is closed: a client that does not read would
    /// otherwise block the shutdown.
    static let endTimeout = TimeAmount.seconds(1)

    /// - Parameter open: makes the queue; called after the response's head was written.
    static func make(
        for request: Request, on channel: any Channel, heartbeat: Duration = heartbeat,
        open: @escaping @Sendable () -> EventQueue
    ) -> Response {
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        let body = ResponseBody { writer in
            let queue = open()
            defer { queue.finish() }
            try await withGracefulShutdownHandler {
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await write(queue, heartbeat, to: &writer)
                } onInboundClosed: {
                    end(queue, channel)
                }
            } onGracefulShutdown: {
                end(queue, channel)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func end(_ queue: EventQueue, _ channel: any Channel) {
        queue.finish()
        channel.eventLoop.scheduleTask(in: endTimeout) { channel.close(promise: nil) }
    }

    @concurrent private static func write(
        _ queue: EventQueue, _ heartbeat: Duration, to writer: inout any ResponseBodyWriter
    ) async throws {
        try await writer.write(ByteBuffer(string: ": connected\n\n"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                while true {
                    try await Task.sleep(for: heartbeat)
                    queue.putHeartbeat()
                }
            }
            for await _ in queue.rings {
                while let event = queue.take() { try await writer.write(event) }
            }
        }
    }
}
