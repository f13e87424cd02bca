package import AMQP
import Logging
import ServiceLifecycle
import Synchronization

/// Checks periodically whether all exchanges, queues and bindings are there, and whether each queue has a leader, on
/// its own connection.
///
/// It declares missing queues and bindings, unless `AMQP_DECLARE=check`. So objects that an operator or a restored
/// broker has lost come back although nobody publishes to it.
///
/// A quorum queue without a leader can be declared and looked up as usual, but it confirms and delivers nothing
/// (rabbitmq-server issue 10070, or a majority of the cluster's nodes is down). Only consuming shows it.
final class QueueLeaderWatch: Sendable {
    private let configuration: AMQPConfiguration
    private let topology: AMQPTopology
    private let interval: Duration
    private let logger: Logger
    private let findings = Mutex(Findings())

    private struct Findings {
        var leaderless: [String] = []
        /// Why the topology is not as it must be.
        var missing: String?
    }

    init(
        configuration: AMQPConfiguration, topology: AMQPTopology, interval: Duration = .seconds(10), logger: Logger
    ) {
        var configuration = configuration
        // An election takes less than a second, and a shutdown waits for the current call.
        configuration.connectTimeout = .seconds(1)
        configuration.replyTimeout = .seconds(2)
        configuration.connectionName += " (leaders)"
        self.configuration = configuration
        self.topology = topology
        self.interval = interval
        self.logger = logger
    }

    /// The missing objects, or the queues without a leader, and the remedy, for an operator; `nil` if there is no
    /// problem.
    var problem: String? {
        let findings = findings.withLock { $0 }
        if let missing = findings.missing { return missing }
        let names = findings.leaderless
        guard let first = names.first else { return nil }
        return "no leader: \(names.joined(separator: ", ")); \(LeaderlessQueue.remedy(first, configuration))"
    }

    /// Checks until graceful shutdown or cancellation.
    func run() async {
        await cancelWhenGracefulShutdown {
            var connection: AMQPConnection?
            while !Task.isCancelled {
                await self.checkTopology(&connection)
                await self.checkLeaders(&connection)
                let end =
                    ContinuousClock.now
                    + (self.findings.withLock { $0.leaderless.isEmpty } ? self.interval : .seconds(1))
                // If the broker closed the connection, the next check begins at once.
                repeat {
                    try? await Task.sleep(for: .seconds(1))
                    guard await connection?.isOpen == true else { break }
                } while ContinuousClock.now < end && !Task.isCancelled
            }
            await connection?.close()
        }
    }

    private func checkTopology(_ connection: inout AMQPConnection?) async {
        let found: String?
        do {
            if await connection?.isOpen != true { connection = try await AMQPConnection.open(configuration) }
            try await connection?.declare(topology)
            found = nil
        } catch {
            guard [.notFound, .preconditionFailed, .accessRefused].contains(error.code) else { return }
            found = error.message
        }
        guard replace(\.missing, by: found) else { return }
        if let found {
            logger.error("An exchange or a queue is missing", metadata: ["problem": "\(found)"])
        } else {
            logger.notice("Every exchange and queue is there again")
        }
    }

    private func checkLeaders(_ connection: inout AMQPConnection?) async {
        guard let suspects = await leaderless(of: topology.queues.map(\.name), &connection),
            // Checked twice, because an election may just have been running.
            let found = suspects.isEmpty ? [] : await leaderless(of: suspects, &connection)
        else { return }
        guard replace(\.leaderless, by: found) else { return }
        if !found.isEmpty, let problem {
            logger.error("A queue has no leader and delivers nothing", metadata: ["problem": "\(problem)"])
        } else {
            logger.notice("Every queue has a leader again")
        }
    }

    /// - Returns: whether it was another one before.
    private func replace<Value: Equatable>(_ finding: WritableKeyPath<Findings, Value>, by value: Value) -> Bool {
        findings.withLock { findings in
            defer { findings[keyPath: finding] = value }
            return findings[keyPath: finding] != value
        }
    }

    /// The queues without a leader; `nil` if the broker cannot be asked.
    private func leaderless(of queues: [String], _ connection: inout AMQPConnection?) async -> [String]? {
        var found: [String] = []
        for queue in queues {
            guard !Task.isCancelled else { return nil }
            do {
                if await connection?.isOpen != true { connection = try await AMQPConnection.open(configuration) }
                try await connection?.expectLeader(of: queue)
            } catch {
                switch error.code {
                case .queueUnavailable: found.append(queue)
                // It was deleted, and is declared by the next check, or named as missing.
                case .notFound: break
                default: return nil
                }
            }
        }
        return found
    }
}

/// The remedy for a quorum queue that has no leader.
package enum LeaderlessQueue {
    /// The remedy, with the command that triggers an election. Restarting the node does not help.
    package static func remedy(_ queue: String, _ configuration: AMQPConfiguration) -> String {
        // The virtual host as written in the endpoint of every node; Raft names begin with it.
        let virtualHost = configuration.endpoints.split(separator: "/").last.map(String.init) ?? "%2F"
        let election = "ra:trigger_election({'\(virtualHost)_\(queue)', node()})."
        return "start the cluster's nodes that are down; otherwise run on the node: rabbitmqctl eval \"\(election)\" "
            + "(rabbitmq-server issue 10070)"
    }
}
