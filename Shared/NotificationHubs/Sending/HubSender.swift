public import Logging
import NIOCore
import NIOPosix
public import SecurePushCore
public import ServiceLifecycle
import Synchronization

/// Sends native notifications through the hub (`POST /HUB/messages/`), over a small pool of HTTP/1.1 connections.
///
/// The hottest path of the product, so it has no task, no promise and no timer a request: sends are queued under a
/// lock and fetched by the event loop in groups, each becomes one buffer and one write, and one timer looks after all
/// deadlines. Each send is called back exactly once, on the event loop or, when shutting down, on the caller's thread.
/// Nothing is ever sent twice here: a request on a kept-alive connection that the hub had closed is
/// ``SendOutcome/unanswered(reason:)``, and the dispatcher decides.
///
/// Sends work from the start. ``stop(within:)``, or else the shutdown that ``run()`` waits for, lets those in flight
/// end, the latter up to five seconds.
public final class HubSender: PushGateway, Service {
    private let lanes: [HubLane]
    private let tokens: SharedAccessTokens
    private let turn = Atomic<Int>(0)

    /// - Parameters:
    ///   - concurrency: the most requests under way, which is the most connections; at least 1.
    public convenience init(configuration: NotificationHubConfiguration, concurrency: Int, logger: Logger) {
        self.init(configuration: configuration, concurrency: concurrency, logger: logger, options: HubSenderOptions())
    }

    init(
        configuration: NotificationHubConfiguration, concurrency: Int, logger: Logger, options: HubSenderOptions,
        tokens: SharedAccessTokens? = nil
    ) {
        let concurrency = max(1, concurrency)
        let count = min(options.eventLoops, concurrency)
        let tokens = tokens ?? SharedAccessTokens(configuration: configuration, logger: logger)
        self.tokens = tokens
        let connector = HubConnector(endpoint: configuration.endpoint, options: options)
        lanes = (0..<count).map { index in
            HubLane(
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                limit: concurrency / count + (index < concurrency % count ? 1 : 0), configuration: configuration,
                tokens: tokens, connector: connector, options: options, logger: logger)
        }
    }

    public func send(_ notification: HubNotification, completion: @escaping @Sendable (SendOutcome) -> Void) {
        lane.submit(notification, completion: completion)
    }

    /// Reads the file of the connection string again (`HUB_CONNECTION_STRING_FILE`), for SIGHUP; it is also looked at
    /// once a second. One that cannot be used is logged, and the one before stays in force.
    public func reload() { tokens.reload() }

    public func stop(within duration: Duration) {
        let time = TimeAmount.milliseconds(min(max(.zero, duration), Self.maxStop).milliseconds)
        for lane in lanes { lane.stop(within: time) }
    }

    /// Longer than any stop, and short enough for arithmetic with deadlines.
    private static let maxStop = Duration.seconds(86_400)

    private var lane: HubLane {
        if lanes.count == 1 { return lanes[0] }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return lanes[Int(UInt(bitPattern: turn) % UInt(lanes.count))]
    }

    /// Idles until shutdown, then ends: no new sends, those in flight are waited for, connections are closed.
    public func run() async throws {
        // Throws when the task is cancelled, which here is shutdown as well.
        try? await gracefulShutdown()
        let ends = lanes.map { $0.drain() }
        for end in ends { try await end.get() }
    }
}
