import Logging
import ServiceLifecycle
import ThreadExecutor

/// What the loop keeps connected.
protocol BrokerSession: Actor {
    /// Connects, declares, and begins to work. Blocks the actor's thread.
    func connect(to node: AMQPConfiguration.Node) throws(AMQPError)
    /// Waits for the end of the connection, and tells why.
    func untilDisconnected() async -> AMQPError
    /// Finishes what is under way, within a deadline, and closes.
    func shutDown() async
    var isShuttingDown: Bool { get }
}

/// Connects to one of the nodes and, when the connection is lost, to the next, until shutdown.
struct ReconnectLoop<Session: BrokerSession> {
    let session: Session
    let configuration: AMQPConfiguration
    let logger: Logger

    /// Returns after a graceful shutdown or cancellation.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keepConnected() }
            try? await gracefulShutdown()
            await session.shutDown()
            group.cancelAll()
        }
    }

    private func keepConnected() async {
        var backoff = Backoff()
        var reported: AMQPError?
        while await mayGoOn() {
            do {
                let node = try await connect()
                logger.info("Connected to the broker.", metadata: ["node": "\(node)"])
                reported = nil
                let start = ContinuousClock.now
                let error = await session.untilDisconnected()
                guard await mayGoOn() else { return }
                logger.warning("The connection to the broker ended.", metadata: ["error": "\(error)"])
                // A connection that ends at once is as good as none.
                if ContinuousClock.now - start > .seconds(1) { backoff.reset() }
            } catch {
                let isNew = error != reported
                reported = error
                logger.log(
                    level: isNew ? .warning : .debug, "The broker cannot be used; trying again.",
                    metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: backoff.next())
        }
    }

    private func mayGoOn() async -> Bool {
        guard !Task.isCancelled else { return false }
        return await !session.isShuttingDown
    }

    /// Tries every node once, in random order.
    private func connect() async throws(AMQPError) -> AMQPConfiguration.Node {
        var last = AMQPError(.notConnected, "the broker's URL names no node")
        for node in configuration.nodes.shuffled() where await mayGoOn() {
            do {
                try await session.connect(to: node)
                return node
            } catch { last = error }
        }
        throw last
    }
}
