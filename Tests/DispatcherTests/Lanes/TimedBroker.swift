import Domain
import Synchronization

@testable import Dispatcher

/// A clock that stands still unless it is moved; sleeping moves it.
final class VirtualClock: Sendable {
    private let time: Mutex<LaneClock.Instant>
    let start: LaneClock.Instant

    init() {
        start = .now
        time = Mutex(start)
    }

    var now: LaneClock.Instant { time.withLock { $0 } }
    /// Since the beginning.
    var elapsed: Duration { start.duration(to: now) }

    func advance(to instant: LaneClock.Instant) { time.withLock { $0 = max($0, instant) } }

    var laneClock: LaneClock {
        LaneClock(
            now: { self.now },
            sleep: { duration in
                self.time.withLock { $0 += duration }
                await Task.yield()
            })
    }
}

/// A broker in memory with a prefetch and delay queues. By a virtual clock it passes the time as soon as nothing is
/// under way, and ends when nothing is left; by the system's it waits for ``end()``.
final class TimedBroker: DispatchConsumer, DispatchPublisher {
    struct Record: Sendable {
        var ready: [DispatchMessage] = []
        var delayed: [(due: LaneClock.Instant, message: DispatchMessage)] = []
        var unsettled: Set<UInt64> = []
        var nextTag: UInt64 = 1
        var published = 0
        var dead: [String] = []
        var poison: Set<UInt64> = []
        var deadLettered = 0
        var isEnding = false
    }

    private let state = Mutex(Record())
    private let delays: RetryDelays
    private let prefetch: Int
    private let virtual: VirtualClock?

    init(delays: RetryDelays, prefetch: Int, virtual: VirtualClock? = nil) {
        self.delays = delays
        self.prefetch = prefetch
        self.virtual = virtual
    }

    let isConnected = true
    var record: Record { state.withLock { $0 } }
    private var now: LaneClock.Instant { virtual?.now ?? .now }

    func deliver(_ messages: [DispatchMessage]) { state.withLock { $0.ready += messages } }

    /// No more is to come: ends when nothing is left.
    func end() { state.withLock { $0.isEnding = true } }

    private enum Step { case deliver([DispatchDelivery]), ended, wait }

    func next(limit: Int) async -> [DispatchDelivery]? {
        while true {
            switch state.withLock({ step(&$0, limit: limit) }) {
            case .deliver(let deliveries): return deliveries
            case .ended: return nil
            case .wait where virtual != nil: await Task.yield()
            case .wait: try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func step(_ state: inout Record, limit: Int) -> Step {
        if let virtual, state.ready.isEmpty, state.unsettled.isEmpty, let next = state.delayed.map(\.due).min() {
            virtual.advance(to: next)
        }
        let time = now
        state.ready += state.delayed.filter { $0.due <= time }.map(\.message)
        state.delayed.removeAll { $0.due <= time }
        let count = min(limit, prefetch - state.unsettled.count, state.ready.count)
        if count > 0 {
            let messages = state.ready.prefix(count)
            state.ready.removeFirst(count)
            let first = state.nextTag
            state.nextTag += UInt64(count)
            state.unsettled.formUnion(first..<state.nextTag)
            return .deliver(
                zip(first..., messages).map { DispatchDelivery(tag: $0, epoch: 1, message: $1) })
        }
        let isDone = state.ready.isEmpty && state.delayed.isEmpty && state.unsettled.isEmpty
        return isDone && (virtual != nil || state.isEnding) ? .ended : .wait
    }

    func acknowledge(_ deliveries: [DispatchDelivery]) {
        state.withLock { $0.unsettled.subtract(deliveries.map(\.tag)) }
    }

    func requeue(_ deliveries: [DispatchDelivery]) {
        state.withLock { state in
            state.unsettled.subtract(deliveries.map(\.tag))
            state.ready += deliveries.compactMap(\.message)
        }
    }

    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        state.withLock { state in
            for (message, route) in messages {
                switch route {
                case .dispatch: state.ready.append(message)
                case .retry(let delay):
                    state.published += 1
                    state.delayed.append((now + delays.delays[delay], message))
                case .dead(let reason): state.dead.append(reason)
                }
            }
        }
        return messages.map { _ in .success(()) }
    }
}

/// A hub that answers at once as a function says.
struct FunctionGateway: PushGateway {
    let answer: @Sendable (HubNotification) -> SendOutcome?
    /// What got no answer yet.
    let silent = Silence()

    final class Silence: Sendable {
        private let waiting = Mutex<[@Sendable (SendOutcome) -> Void]>([])

        var count: Int { waiting.withLock { $0.count } }
        func add(_ completion: @escaping @Sendable (SendOutcome) -> Void) { waiting.withLock { $0.append(completion) } }

        /// Answers all that waits.
        func end(_ outcome: SendOutcome) {
            let waiting = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for completion in waiting { completion(outcome) }
        }
    }

    func stop(within duration: Duration) {}

    func send(
        _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
    ) {
        if let outcome = answer(notification) { completion(outcome) } else { silent.add(completion) }
    }
}
