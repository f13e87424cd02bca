package import Domain
package import Foundations
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
package import Tracing

/// Sends through several hubs (`HUB_POOL_FILE`): one ``HubSender`` per hub, all on one event loop.
///
/// A hub that leaves the file, or whose line changes, stops: its requests in flight end, and later sends to its sender
/// are answered with ``SendOutcome/notSent(reason:)``, which uses up no attempt.
package final class HubSenderPool: PushGateway, Service {
    /// See ``HubSender/executor``.
    package let executor: (any TaskExecutor)?
    /// The file, for readiness, metrics and SIGHUP.
    package let source: ReloadableSource
    private let clients: HubClients<any PushGateway>
    private let senders: Senders
    private let leaving: Duration

    /// The senders in memory, for the shutdown. Only its requests and connections keep a sender that has left: it holds
    /// a key, and the file may change often.
    private final class Senders: Sendable {
        private struct Entry {
            weak var sender: HubSender?
        }

        private let entries = Mutex<[Entry]>([])

        var all: [HubSender] { entries.withLock { entries in entries.compactMap { $0.sender } } }

        func add(_ sender: HubSender) {
            entries.withLock { entries in
                entries.removeAll { $0.sender == nil }
                entries.append(Entry(sender: sender))
            }
        }
    }

    /// - Parameters:
    ///   - file: the hubs.
    ///   - concurrency: the maximum of requests in flight at each hub.
    ///   - tracer: see ``HubSender/init(configuration:concurrency:tracer:logger:)``.
    package convenience init(file: HubPoolFile, concurrency: Int, tracer: (any Tracer)? = nil, logger: Logger) {
        // As long as a request may take.
        self.init(file: file, concurrency: concurrency, tracer: tracer, logger: logger, leaving: .seconds(10))
    }

    /// - Parameter leaving: how long requests of a hub that leaves may take to end.
    init(file: HubPoolFile, concurrency: Int, tracer: (any Tracer)? = nil, logger: Logger, leaving: Duration) {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        executor = EventLoopTaskExecutor(eventLoop)
        source = file.source
        self.leaving = leaving
        let senders = Senders()
        self.senders = senders
        clients = HubClients(file) { hub in
            var logger = logger
            logger[metadataKey: "hub"] = "\(hub.hubName)"
            let sender = HubSender(
                configuration: hub, concurrency: concurrency, tracer: tracer, logger: logger,
                options: HubSenderOptions(), eventLoop: eventLoop)
            senders.add(sender)
            return sender
        }
    }

    /// The hubs as the file names them now; the same object until they change.
    package var table: HubTable<any PushGateway> {
        let (table, left) = clients.refreshed()
        for client in left { client.stop(within: leaving) }
        return table
    }

    var senderCount: Int { senders.all.count }

    /// Sends to the hub of the notification's tag.
    package func send(
        _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
    ) {
        table.member(of: notification.tag).client.send(notification, trace: trace, completion: completion)
    }

    /// Stops all senders; see ``PushGateway/stop(within:)``.
    package func stop(within duration: Duration) {
        for client in clients.close() { client.stop(within: duration) }
    }

    /// Idles until shutdown, then ends like ``HubSender/run()``.
    package func run() async throws {
        // Throws when the task is cancelled, which is shutdown here as well.
        try? await gracefulShutdown()
        _ = clients.close()
        try await withThrowingDiscardingTaskGroup { group in
            for sender in senders.all { group.addTask { try await sender.finish() } }
        }
    }
}
