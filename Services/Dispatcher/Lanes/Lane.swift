import Logging
import Metrics
import SecurePushCore
import Synchronization

/// One platform's way to the hub: its own limit, its own circuit, its own queue, so that trouble on one platform stays
/// there.
///
/// Costs a send two short locked sections and the one closure that the gateway needs anyway.
final class Lane: Sendable {
    let platform: Platform
    private let gateway: any PushGateway
    private let clock: LaneClock
    private let book: Mutex<LaneState>
    private let shown = Mutex(Shown())
    private let metrics: LaneMetrics
    private let logger: Logger
    /// The settings that a log line names when there is no such hub.
    private let hub: (name: String, endpoint: String)
    /// Told of every answer, exactly once a send.
    private let deliver: @Sendable (LaneSend, LaneAnswer) -> Void

    init(
        platform: Platform, gateway: any PushGateway, settings: LaneSettings, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        self.platform = platform
        self.gateway = gateway
        self.logger = logger
        self.deliver = deliver
        clock = settings.clock
        hub = (settings.hub, settings.endpoint)
        let book = LaneState(settings: settings, now: settings.clock.now())
        metrics = LaneMetrics(platform: platform, hub: settings.hub)
        metrics.show(.open, limit: book.limit.limit)
        self.book = Mutex(book)
    }

    /// Sends, lets wait, or holds; answers at once, or from the gateway's thread.
    func submit(_ send: LaneSend) {
        let now = clock.now()
        switch book.withLock({ $0.submit(send, now: now) }) {
        case .send(let isProbe): start(send, isProbe: isProbe, now: now)
        case .queued: break
        case .held(let hold): answerHeld(send, hold)
        }
    }

    private func start(_ send: LaneSend, isProbe: Bool, now: LaneClock.Instant) {
        gateway.send(send.notification) { outcome in self.finished(send, outcome, isProbe: isProbe, began: now) }
    }

    private func finished(_ send: LaneSend, _ outcome: SendOutcome, isProbe: Bool, began: LaneClock.Instant) {
        let now = clock.now()
        let latency = began.duration(to: now).nanoseconds
        let (after, next, changed) = book.withLock { book in
            let before = LaneCondition(book)
            let after = book.note(outcome, isProbe: isProbe, latency: latency, now: now)
            return (after, book.next(), LaneCondition(book) != before)
        }
        if changed { show() }
        // The slot goes on first, then the pipeline is told.
        if var next {
            start(next, isProbe: false, now: now)
            // More than one where the limit has grown.
            while let more = book.withLock({ $0.next() }) {
                next = more
                start(next, isProbe: false, now: now)
            }
        }
        for (send, hold) in after.flushed { answerHeld(send, hold) }
        deliver(send, .answered(outcome, hold: after.hold))
    }

    private func answerHeld(_ send: LaneSend, _ hold: LaneHold) {
        metrics.held.increment()
        deliver(send, .held(hold))
    }
}

extension Lane {
    /// What the lanes are compared by.
    struct Load {
        var occupancy: Int
        var flow: Double
        var keepsWaiting: Bool
        var circuit: LaneCircuit.State

        var isPaused: Bool { circuit != .closed }

        func mayBeProbed(now: LaneClock.Instant) -> Bool {
            guard case .open(let pause) = circuit else { return false }
            return pause.until <= now
        }
    }

    var load: Load {
        let now = clock.now()
        return book.withLock { book in
            Load(
                occupancy: book.occupancy, flow: book.flow, keepsWaiting: book.keepsWaiting(now: now),
                circuit: book.circuit.state)
        }
    }

    /// Ages what is counted and shows the metrics anew.
    func tick() {
        book.withLock { $0.tick() }
        show()
    }

    /// The lane holds up the others: what waits in it is held.
    func fallBehind() {
        let now = clock.now()
        let flushed = book.withLock { $0.fallBehind(now: now) }
        show()
        for (send, hold) in flushed { answerHeld(send, hold) }
    }

    /// The dispatcher stops: what waits is held, so that a slow hub does not make the end wait.
    func close() {
        let now = clock.now()
        for (send, hold) in book.withLock({ $0.close(now: now) }) { answerHeld(send, hold) }
    }

    /// What operators were told last.
    private struct Shown {
        var condition = LaneCondition.open
        /// When the last line about a fault was logged.
        var faultLogged: LaneClock.Instant?
    }

    /// How often a fault that lasts is logged again.
    private static let faultLogInterval = Duration.seconds(60)

    /// Shows the lane's condition, with a line in the log where it is another than before, and once a minute while an
    /// operator has to correct the settings.
    private func show() {
        let now = clock.now()
        // The order of lines is the order of changes, so the book is read under the lock of what was shown.
        shown.withLock { shown in
            let (condition, limit, cause) = book.withLock {
                (LaneCondition($0), $0.limit.limit, $0.circuit.state.pause?.cause)
            }
            metrics.show(condition, limit: limit)
            let isDue = shown.faultLogged.map { $0.duration(to: now) >= Self.faultLogInterval } ?? true
            guard condition != shown.condition || (condition == .fault && isDue) else { return }
            shown.condition = condition
            if condition == .fault { shown.faultLogged = now }
            log(condition, cause)
        }
    }

    private func log(_ condition: LaneCondition, _ cause: LaneCircuit.Cause?) {
        let metadata: Logger.Metadata = [
            "platform": "\(platform)", "reason": "\(cause?.reason ?? "the hub is slow")",
        ]
        switch condition {
        case .open: logger.info("A lane is open again", metadata: ["platform": "\(platform)"])
        case .paused: logger.warning("A lane is paused", metadata: metadata)
        case .fault where cause == .noHub:
            var metadata = metadata
            metadata["HUB_NAME"] = "\(hub.name)"
            metadata["endpoint"] = "\(hub.endpoint)"
            logger.error(
                "There is no hub of this name at this endpoint: correct HUB_NAME or the connection string, and restart",
                metadata: metadata)
        case .fault:
            logger.error(
                "The hub refuses the credentials: correct HUB_CONNECTION_STRING_FILE, or the setting and restart",
                metadata: metadata)
        }
    }
}

extension Duration {
    /// Whole nanoseconds; durations here are far below the 292 years that fit.
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
