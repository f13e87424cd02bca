import Logging
import ServiceLifecycle
import ThreadExecutor

/// A connection that ``ReconnectLoop`` keeps open.
protocol BrokerSession: Actor {
    var link: BrokerLink { get set }
    /// Connects, declares the topology, and begins to work. Blocks the actor's thread.
    func open(_ node: AMQPConfiguration.Node) throws(AMQPError)
    /// Finishes the work in flight, within a deadline, and closes the connection.
    func shutDown() async
    var isShuttingDown: Bool { get }
}

extension BrokerSession {
    func connect(to node: AMQPConfiguration.Node) throws(AMQPError) {
        guard !isShuttingDown else { throw AMQPError(.notConnected, "shutting down") }
        do {
            try open(node)
        } catch {
            link.failed(error)
            throw error
        }
    }

    /// Waits until the connection ends; returns why.
    func waitUntilDisconnected() async -> AMQPError {
        await withCheckedContinuation { waiter in
            // Here and not before the call, which may give up the thread: the connection may end in between, and then
            // nobody would resume the waiter.
            guard link.handle != nil else { return waiter.resume(returning: link.lastError) }
            link.disconnectWaiter = waiter
        }
    }
}

/// Connects to one of the nodes, and to the next one whenever the connection is lost, until shutdown.
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
        while await shouldContinue() {
            do {
                let node = try await connect()
                logger.info("Connected to the broker", metadata: ["node": "\(node)"])
                reported = nil
                let start = ContinuousClock.now
                let error = await session.waitUntilDisconnected()
                guard await shouldContinue() else { return }
                logger.warning("The connection to the broker ended", metadata: ["error": "\(error)"])
                backoff.connectionEnded(after: ContinuousClock.now - start)
            } catch {
                let isNew = error != reported
                reported = error
                logger.log(
                    level: isNew ? .warning : .debug, "Cannot use the broker, will try again",
                    metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: backoff.next())
        }
    }

    private func shouldContinue() async -> Bool {
        guard !Task.isCancelled else { return false }
        return await !session.isShuttingDown
    }

    /// Tries every node once, in random order.
    private func connect() async throws(AMQPError) -> AMQPConfiguration.Node {
        var last = AMQPError(.notConnected, "the broker's URL names no node")
        for node in configuration.nodes.shuffled() where await shouldContinue() {
            do {
                try await session.connect(to: node)
                return node
            } catch { last = error }
        }
        throw last
    }
}
