import Synchronization
import ThreadExecutor

/// One connection to the broker, as the actor that owns it uses it: the handle, its heartbeats, and who waits for it to
/// end. Every method is called on the connection's thread.
struct BrokerLink {
    let status = LinkStatus()
    /// `nil` while there is no connection.
    private(set) var handle: Handle?
    /// Why the last connection ended, or could not be made.
    private(set) var lastError = AMQPError(.notConnected, "not connected to the broker")
    /// Resumed when the connection ends.
    var disconnectWaiter: CheckedContinuation<AMQPError, Never>?
    /// Whether librabbitmq still holds frames: the socket does not become readable for those.
    var hasMoreToRead = false
    private var heartbeat = HeartbeatMonitor(heartbeat: nil, now: .now)

    mutating func opened(_ handle: Handle) {
        heartbeat = HeartbeatMonitor(heartbeat: handle.heartbeat, now: .now)
        // Frames may have arrived together with the last reply.
        hasMoreToRead = true
        self.handle = handle
        status.isConnected = true
    }

    /// No connection could be made.
    mutating func failed(_ error: AMQPError) {
        lastError = error
        status.problem = error.message
    }

    /// Releases the handle, which closes the socket.
    mutating func closed(_ error: AMQPError) {
        handle = nil
        status.isConnected = false
        status.isBlocked = false
        failed(error)
        disconnectWaiter?.resume(returning: error)
        disconnectWaiter = nil
    }

    /// The handle, if there is something to read or a heartbeat is due.
    mutating func handleToServe(readable: Bool, now: ContinuousClock.Instant) -> Handle? {
        guard let handle, readable || hasMoreToRead || heartbeat.isDue(now) else { return nil }
        if readable { heartbeat.heard(now) }
        return handle
    }

    /// The broker has answered a call.
    mutating func answered(_ now: ContinuousClock.Instant) { heartbeat.heard(now) }

    /// - Throws: ``AMQPError`` with code `connectionLost` when the broker has been silent for too long.
    func checkHeartbeat(_ now: ContinuousClock.Instant) throws(AMQPError) {
        guard heartbeat.isDead(now) else { return }
        throw AMQPError(.connectionLost, "the broker sent nothing for two heartbeats")
    }

    /// The event that ends the thread's wait: input to read, a heartbeat, or `deadline`.
    ///
    /// - Parameter isReady: whether there is work already, so that the thread must not wait.
    func interest(
        deadline: ContinuousClock.Instant? = nil, untilWritable: Bool = false, isReady: Bool = false
    ) -> ThreadExecutor.Interest {
        guard let handle else { return ThreadExecutor.Interest() }
        let end = min(heartbeat.deadline, deadline ?? heartbeat.deadline)
        return ThreadExecutor.Interest(
            descriptor: handle.descriptor, untilWritable: untilWritable,
            deadline: isReady || hasMoreToRead ? .now : end)
    }
}

/// The state of a connection, which its thread writes and any thread may read.
final class LinkStatus: Sendable {
    private let connected = Atomic(false)
    private let blocked = Atomic(false)
    private let text = Mutex("no connection was tried yet")
    private let returnReason = Mutex<String?>(nil)

    /// Whether a connection is open.
    var isConnected: Bool {
        get { connected.load(ordering: .acquiring) }
        set { connected.store(newValue, ordering: .releasing) }
    }

    /// Whether the broker has said that it accepts no messages.
    var isBlocked: Bool {
        get { blocked.load(ordering: .acquiring) }
        set { blocked.store(newValue, ordering: .releasing) }
    }

    /// Why the broker returns messages; `nil` while it returns none.
    var unroutable: String? {
        get { returnReason.withLock { $0 } }
        set { returnReason.withLock { $0 = newValue } }
    }

    /// Why there is no connection; never holds a credential.
    var problem: String {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = newValue } }
    }
}

/// When an idle connection must be served, so that heartbeats are sent in time and a dead peer is noticed.
///
/// librabbitmq sends and checks heartbeats only inside its calls. Calling it every half heartbeat sends them in time. A
/// peer that was silent for two whole heartbeats is dead (AMQP 0-9-1, section 4.2.7).
struct HeartbeatMonitor {
    private let heartbeat: Duration?
    private var lastHeard: ContinuousClock.Instant
    private var nextCheck: ContinuousClock.Instant

    /// - Parameter heartbeat: the negotiated interval; `nil` for no heartbeats.
    init(heartbeat: Duration?, now: ContinuousClock.Instant) {
        self.heartbeat = heartbeat
        lastHeard = now
        nextCheck = now + (heartbeat ?? .seconds(3600)) / 2
    }

    /// Something arrived.
    mutating func heard(_ now: ContinuousClock.Instant) { lastHeard = now }

    /// Whether it is time to call librabbitmq; if so, sets the next time.
    mutating func isDue(_ now: ContinuousClock.Instant) -> Bool {
        guard now >= deadline else { return false }
        nextCheck = now + (heartbeat ?? .seconds(3600)) / 2
        return true
    }

    /// Whether the peer has been silent for too long.
    func isDead(_ now: ContinuousClock.Instant) -> Bool {
        guard let heartbeat else { return false }
        return now - lastHeard >= heartbeat * 2
    }

    var deadline: ContinuousClock.Instant {
        guard let heartbeat else { return nextCheck }
        return min(nextCheck, lastHeard + heartbeat * 2)
    }
}
