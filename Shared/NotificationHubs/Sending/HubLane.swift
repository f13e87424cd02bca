import Logging
import NIOCore
import SecurePushCore

/// One event loop's share of a ``HubSender``: its queue, its connections, its deadlines.
// Sendable because all mutable state is touched on `eventLoop` only: the entries from other threads, `submit` and
// `drain`, go through the mailbox (locked) and `eventLoop.execute`; every other method is called by the connections,
// timers and connect futures of this event loop.
final class HubLane: @unchecked Sendable {
    let eventLoop: any EventLoop
    let options: HubSenderOptions
    let connector: HubConnector
    let logger: Logger
    private let tokens: SharedAccessTokens
    private let mailbox = HubMailbox()

    var pool: HubPool<HubConnection>
    var connections: [ObjectIdentifier: HubConnection] = [:]
    var isTicking = false
    var drained: EventLoopPromise<Void>?
    var drainDeadline = NIODeadline.distantFuture
    var connectFailures = 0
    private var writer: HubRequestWriter
    private var metrics: HubMetrics
    private var inbox: [HubSend] = []

    init(
        eventLoop: any EventLoop, limit: Int, configuration: NotificationHubConfiguration, tokens: SharedAccessTokens,
        connector: HubConnector, options: HubSenderOptions, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.tokens = tokens
        self.connector = connector
        self.options = options
        self.logger = logger
        pool = HubPool(limit: limit)
        metrics = HubMetrics(hub: configuration.hubName)
        writer = HubRequestWriter(configuration: configuration)
    }

    /// Takes a send, from any thread.
    func submit(_ notification: HubNotification, completion: @escaping @Sendable (SendOutcome) -> Void) {
        let now = NIODeadline.now()
        let send = HubSend(
            notification: notification, submitted: now, deadline: now + options.deadline, completion: completion)
        switch mailbox.put(send) {
        case .queued: break
        case .wakeUp: eventLoop.execute { self.collect() }
        case .closed: completion(.notSent(reason: Self.stopping))
        }
    }

    static let stopping = "the sender is shutting down"

    private func collect() {
        mailbox.take(into: &inbox)
        pool.submit(inbox)
        inbox.removeAll(keepingCapacity: true)
        advance()
    }

    /// Puts waiting requests on connections, and opens some where they are wanted.
    func advance() {
        while let action = pool.next() {
            switch action {
            case .send(let send, let connection): put(send, on: connection)
            case .connect: connect()
            }
        }
        startTicking()
        finishDrainingIfQuiet()
    }

    private func put(_ send: HubSend, on connection: HubConnection) {
        connection.output.clear()
        if writer.write(send.notification, token: tokens.current, into: &connection.output) {
            connection.start(send)
        } else {
            let now = NIODeadline.now()
            pool.release(connection, now: now)
            let reason = "a header of the notification holds a control character"
            tell(send, .rejected(reason: reason), .invalid, now: now)
        }
    }

    /// An answer has come.
    func answered(_ send: HubSend, _ answer: HubAnswer, on connection: HubConnection, isReusable: Bool) {
        if answer.status == 401 { tokens.invalidate(writer.tokenNumber, hubTime: answer.hubTime) }
        finished(send, answer.outcome(now: .now), .status(answer.status), on: connection, isReusable: isReusable)
    }

    /// A request has ended, in one way or another: the connection goes on first, then the caller is told.
    func finished(
        _ send: HubSend, _ outcome: SendOutcome, _ end: HubRequestEnd, on connection: HubConnection, isReusable: Bool
    ) {
        let now = NIODeadline.now()
        if isReusable {
            pool.release(connection, now: now)
            advance()
        }
        tell(send, outcome, end, now: now)
    }

    func tell(_ send: HubSend, _ outcome: SendOutcome, _ end: HubRequestEnd, now: NIODeadline) {
        metrics.record(outcome, end, platform: send.notification.platform, duration: now - send.submitted)
        send.completion(outcome)
    }

    /// Begins to end: takes nothing more, and ends the requests in flight when the time is over. Callable from any
    /// thread, and more than once.
    func stop(within time: TimeAmount) {
        mailbox.close()
        let deadline = NIODeadline.now() + time
        eventLoop.execute {
            guard deadline < self.drainDeadline else { return }
            self.drainDeadline = deadline
            // The tick's grain is too coarse for what others wait for.
            self.eventLoop.scheduleTask(deadline: deadline) { self.endIfDrained() }
            self.collect()
        }
    }

    /// Stops, and is done when all requests have their answers and all connections are closed.
    func drain() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        stop(within: options.drainTimeout)
        eventLoop.execute {
            if let drained = self.drained { return drained.futureResult.cascade(to: promise) }
            self.drained = promise
            self.finishDrainingIfQuiet()
        }
        return promise.futureResult
    }
}
