import Synchronization

/// A flag that one thread sets and any may read.
final class ConnectionFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set(_ value: Bool) { flag.store(value, ordering: .releasing) }
}

/// Why there is no connection, as one thread writes it and any may read; never holds a credential.
final class ConnectionProblem: Sendable {
    private let text = Mutex("no connection was tried yet")

    var current: String { text.withLock { $0 } }

    func set(_ error: AMQPError) { text.withLock { $0 = error.message } }
}

/// When an otherwise idle connection must be looked at, so that heartbeats are sent in time and a dead peer is noticed.
///
/// librabbitmq sends and checks heartbeats only inside its calls. Looking every half heartbeat sends them in time; a
/// peer that was silent for two whole ones is dead (AMQP 0-9-1, section 4.2.7).
struct HeartbeatMonitor {
    let heartbeat: Duration?
    private var lastHeard: ContinuousClock.Instant
    private var nextLook: ContinuousClock.Instant

    init(heartbeat: Duration?, now: ContinuousClock.Instant) {
        self.heartbeat = heartbeat
        lastHeard = now
        nextLook = now + (heartbeat ?? .seconds(3600)) / 2
    }

    /// Something arrived.
    mutating func heard(_ now: ContinuousClock.Instant) { lastHeard = now }

    /// Whether it is time to look; the next time is set.
    mutating func isDue(_ now: ContinuousClock.Instant) -> Bool {
        guard now >= deadline else { return false }
        nextLook = now + (heartbeat ?? .seconds(3600)) / 2
        return true
    }

    /// Whether the peer has been silent for too long.
    func isDead(_ now: ContinuousClock.Instant) -> Bool {
        guard let heartbeat else { return false }
        return now - lastHeard >= heartbeat * 2
    }

    var deadline: ContinuousClock.Instant {
        guard let heartbeat else { return nextLook }
        return min(nextLook, lastHeard + heartbeat * 2)
    }

    /// What a dead peer is reported as.
    var silence: AMQPError { AMQPError(.connectionLost, "the broker sent nothing for two heartbeats") }
}
