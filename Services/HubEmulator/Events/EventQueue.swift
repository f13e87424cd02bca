import DequeModule
import NIOCore
import Synchronization

/// What waits for one reader of an event stream.
///
/// Bounded in number and in bytes: a reader that is too slow loses the oldest events, and is told how many by an event
/// `dropped` with `{"Count":…}`. One writer takes events out; anyone may put them in.
final class EventQueue: Sendable {
    /// How many events wait at most.
    static let maxEvents = 1000
    /// How many bytes they hold at most; one event alone may be larger.
    static let maxBytes = 1024 * 1024

    private struct State {
        var waiting: Deque<ByteBuffer> = []
        var byteCount = 0
        /// Dropped since the reader was last told.
        var untold = 0
        var dropped = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let bell: AsyncStream<Void>.Continuation
    private let onFinish: @Sendable () -> Void
    /// Rings when something waits, and ends when the stream does. For the one writer.
    let rings: AsyncStream<Void>

    /// - Parameter onFinish: called once, when the stream has ended.
    init(onFinish: @escaping @Sendable () -> Void = {}) {
        self.onFinish = onFinish
        (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// How many events the reader has lost.
    var droppedCount: Int { state.withLock { $0.dropped } }
    /// How many wait, and how many bytes they hold.
    var waiting: (events: Int, bytes: Int) { state.withLock { ($0.waiting.count, $0.byteCount) } }

    /// - Parameter event: encoded; its memory is shared by all queues that it is put into.
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
                state.untold += 1
            }
            return true
        }
        if isOpen { bell.yield() }
    }

    /// Puts a comment in unless something waits, which shows a live connection as well.
    func putHeartbeat() {
        let isIdle = state.withLock { $0.waiting.isEmpty && !$0.isFinished }
        if isIdle { put(ByteBuffer(string: ": heartbeat\n\n")) }
    }

    /// The next event; nil when none waits.
    func take() -> ByteBuffer? {
        state.withLock { state in
            if state.untold > 0 {
                let count = state.untold
                state.untold = 0
                return ServerSentEvent(event: "dropped", data: Array("{\"Count\":\(count)}".utf8)).buffer
            }
            guard let first = state.waiting.popFirst() else { return nil }
            state.byteCount -= first.readableBytes
            return first
        }
    }

    /// Ends the stream; what waits is forgotten.
    func finish() {
        let isFirst = state.withLock { state in
            defer {
                state.isFinished = true
                state.waiting = []
                state.byteCount = 0
                state.untold = 0
            }
            return !state.isFinished
        }
        guard isFirst else { return }
        bell.finish()
        onFinish()
    }
}
