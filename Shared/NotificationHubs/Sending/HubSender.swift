package import Domain
package import Foundations
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
package import Tracing

/// The settings of a ``HubSender`` that only tests change.
struct HubSenderOptions: Sendable {
    /// From submission to response.
    var deadline: TimeAmount = .seconds(10)
    var connectTimeout: TimeAmount = .seconds(5)
    /// Unused connections are closed after this time, before the load balancers in front of hubs close them.
    var idleTimeout: TimeAmount = .seconds(60)
    /// How long requests may take to end once shutdown has begun.
    var drainTimeout: TimeAmount = .seconds(5)

    /// How often deadlines are checked: one timer serves all requests, with a precision of 5 % of the deadline.
    var tick: TimeAmount { .nanoseconds(max(deadline.nanoseconds / 20, 5_000_000)) }
}

/// Sends native notifications through the hub (`POST /HUB/messages/`), over a small pool of HTTP/1.1 connections.
///
/// This is the hottest path of the product, so a request costs no task, no promise and no timer: sends are queued under
/// a lock, the event loop takes them in groups, each becomes one buffer and one write, and one timer checks all
/// deadlines. One event loop carries more sends per second than a hub accepts, and with one loop each wake-up serves
/// more of them.
///
/// Each send is called back exactly once, on the event loop or, after shutdown, on the caller's thread. Nothing is ever
/// sent twice here: a request on a kept-alive connection that the hub had closed is
/// ``SendOutcome/unanswered(reason:)``, and the dispatcher decides.
///
/// Sends work from the start. ``stop(within:)``, or else the shutdown that ``run()`` waits for, lets requests in flight
/// end; at shutdown they have up to five seconds.
///
/// It is `Sendable` because all mutable state is touched on `eventLoop` only. Calls from other threads (`send`,
/// `reload`, `stop`, `run`) go through `intake` (a lock), `tokens` (a lock) or `eventLoop.execute`. All other methods
/// are called by the connections, timers and connect futures of this event loop.
///
/// Decision: docs/decisions/0034-own-client-and-parser-for-the-hub.md
package final class HubSender: PushGateway, Service, @unchecked Sendable {
    /// The event loop: what a task submits there goes to the hub without another wake-up, all sends of a group at once,
    /// and its answers resume the task without a change of threads.
    package let executor: (any TaskExecutor)?

    let eventLoop: any EventLoop
    let options: HubSenderOptions
    let connector: HubConnector
    let logger: Logger
    let tokens: SharedAccessTokens
    private let intake = Mutex(Intake())

    var pool: HubPool<HubConnection>
    var connections: [ObjectIdentifier: HubConnection] = [:]
    var isTicking = false
    var drained: EventLoopPromise<Void>?
    var drainDeadline = NIODeadline.distantFuture
    var connectFailures = 0
    private var writer: HubRequestWriter
    private var metrics: HubMetrics
    /// A proxy or the like seems to answer in place of the hub.
    private let oddSuccesses = LastingProblemLog("The hub has accepted a push with an unexpected status")
    private let spans: HubSpans?
    private var taken: [HubSend] = []

    /// Where any thread leaves sends for the event loop. The first send into an empty intake wakes the loop; sends that
    /// follow before the loop has taken them cost no wake-up.
    private struct Intake {
        var sends: [HubSend] = []
        var isAwaited = false
        var isClosed = false
    }

    private enum Reception { case wakeUp, queued, closed }

    /// Makes a sender, which opens connections when they are needed.
    ///
    /// - Parameters:
    ///   - configuration: the hub, and the key to it.
    ///   - concurrency: the maximum of requests in flight, which is the maximum of connections; at least 1.
    ///   - tracer: makes a span for each send that has a trace; `nil` for none.
    ///   - logger: for connections and credentials.
    package convenience init(
        configuration: NotificationHubConfiguration, concurrency: Int, tracer: (any Tracer)? = nil, logger: Logger
    ) {
        self.init(
            configuration: configuration, concurrency: concurrency, tracer: tracer, logger: logger,
            options: HubSenderOptions())
    }

    init(
        configuration: NotificationHubConfiguration, concurrency: Int, tracer: (any Tracer)? = nil, logger: Logger,
        options: HubSenderOptions, tokens: SharedAccessTokens? = nil,
        eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    ) {
        self.eventLoop = eventLoop
        executor = EventLoopTaskExecutor(eventLoop)
        self.options = options
        self.logger = logger
        self.tokens = tokens ?? SharedAccessTokens(configuration: configuration, logger: logger)
        connector = HubConnector(configuration: configuration, options: options)
        pool = HubPool(limit: max(1, concurrency))
        metrics = HubMetrics(hub: configuration.hubName)
        spans = tracer.map { HubSpans(tracer: $0, configuration: configuration) }
        writer = HubRequestWriter(configuration: configuration)
    }

    package func send(
        _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
    ) {
        let now = NIODeadline.now()
        var notification = notification
        let span = trace.flatMap { spans?.begin($0, &notification) }
        let send = HubSend(
            notification: notification, submitted: now, deadline: now + options.deadline, span: span,
            completion: completion)
        let reception = intake.withLock { intake -> Reception in
            if intake.isClosed { return .closed }
            intake.sends.append(send)
            if intake.isAwaited { return .queued }
            intake.isAwaited = true
            return .wakeUp
        }
        switch reception {
        case .queued: break
        case .wakeUp: eventLoop.execute { self.collect() }
        case .closed: completion(.notSent(reason: Self.stopping))
        }
    }

    static let stopping = "the sender is shutting down"

    /// The file of the connection string (`HUB_CONNECTION_STRING_FILE`); `nil` without one. It is checked once per
    /// second. A connection string that is not valid is logged, and the one before stays in use.
    package var source: ReloadableSource? { tokens.source }

    private func collect() {
        // The two arrays take turns, so that their memory is used again.
        let empty = taken
        taken = []
        var sends = intake.withLock { intake in
            let sends = intake.sends
            intake.sends = empty
            intake.isAwaited = false
            return sends
        }
        pool.submit(sends)
        sends.removeAll(keepingCapacity: true)
        taken = sends
        advance()
    }

    /// Puts waiting requests on connections, and opens connections where they are needed.
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
            complete(send, .rejected(reason: reason), .invalid, now: now)
        }
    }

    func responded(_ send: HubSend, _ response: HubResponse, on connection: HubConnection, isReusable: Bool) {
        if response.status == 401 { tokens.invalidate(writer.tokenNumber, hubTime: response.hubTime) }
        if response.isOddSuccess { oddSuccesses.failed(to: logger, metadata: ["status": "\(response.status)"]) }
        finished(send, response.outcome(now: .now), .status(response.status), on: connection, isReusable: isReusable)
    }

    /// A request has ended, with or without a response: the connection takes the next one first, then the caller is
    /// told.
    func finished(
        _ send: HubSend, _ outcome: SendOutcome, _ end: HubRequestEnd, on connection: HubConnection, isReusable: Bool
    ) {
        let now = NIODeadline.now()
        if isReusable {
            pool.release(connection, now: now)
            advance()
        }
        complete(send, outcome, end, now: now)
    }

    func complete(_ send: HubSend, _ outcome: SendOutcome, _ end: HubRequestEnd, now: NIODeadline) {
        metrics.record(outcome, end, platform: send.notification.platform, duration: now - send.submitted)
        if let span = send.span { HubSpans.end(span, outcome, end) }
        send.completion(outcome)
    }
}

extension HubSender {
    /// Longer than any stop, and short enough for arithmetic with deadlines.
    private static let maxStop = Duration.seconds(86_400)

    /// Accepts no more sends, and ends requests in flight after `duration`; see ``PushGateway/stop(within:)``. Any
    /// thread may call it, more than once.
    package func stop(within duration: Duration) {
        drain(within: .milliseconds(min(max(.zero, duration), Self.maxStop).milliseconds))
    }

    private func drain(within time: TimeAmount) {
        intake.withLock { $0.isClosed = true }
        let deadline = NIODeadline.now() + time
        eventLoop.execute {
            guard deadline < self.drainDeadline else { return }
            self.drainDeadline = deadline
            // The tick is too coarse for a drain that others wait for.
            self.eventLoop.scheduleTask(deadline: deadline) { self.endIfDrained() }
            self.collect()
        }
    }

    /// Idles until shutdown, then ends: accepts no more sends, waits for those in flight, and closes the connections.
    package func run() async throws {
        // Throws when the task is cancelled, which is shutdown here as well.
        try? await gracefulShutdown()
        try await finish()
    }

    /// Accepts no more sends, waits for those in flight, and closes the connections.
    func finish() async throws {
        let promise = eventLoop.makePromise(of: Void.self)
        drain(within: options.drainTimeout)
        eventLoop.execute {
            if let drained = self.drained { return drained.futureResult.cascade(to: promise) }
            self.drained = promise
            self.finishDrainingIfQuiet()
        }
        try await promise.futureResult.get()
    }
}
