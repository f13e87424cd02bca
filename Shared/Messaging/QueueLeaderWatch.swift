public import AMQP
import Logging
import ServiceLifecycle
import Synchronization

/// Checks periodically whether each queue has a leader, on its own connection.
///
/// A quorum queue without a leader can be declared and looked up as usual, but it confirms and delivers nothing
/// (rabbitmq-server issue 10070, or a majority of the cluster's nodes is down). Only consuming shows it.
final class QueueLeaderWatch: Sendable {
    private let configuration: AMQPConfiguration
    private let queues: [String]
    private let interval: Duration
    private let logger: Logger
    private let leaderless = Mutex<[String]>([])

    init(configuration: AMQPConfiguration, queues: [String], interval: Duration = .seconds(10), logger: Logger) {
        var configuration = configuration
        // An election takes less than a second, and a shutdown waits for the current call.
        configuration.connectTimeout = .seconds(1)
        configuration.replyTimeout = .seconds(2)
        configuration.connectionName += " (leaders)"
        self.configuration = configuration
        self.queues = queues
        self.interval = interval
        self.logger = logger
    }

    /// The queues without a leader and the remedy, for an operator; `nil` if every queue has a leader.
    var problem: String? {
        let names = leaderless.withLock { $0 }
        guard let first = names.first else { return nil }
        return "no leader: \(names.joined(separator: ", ")); \(LeaderlessQueue.remedy(first, configuration))"
    }

    /// Checks until graceful shutdown or cancellation.
    func run() async {
        await cancelWhenGracefulShutdown {
            var connection: AMQPConnection?
            while !Task.isCancelled {
                await self.check(&connection)
                let end = ContinuousClock.now + (self.leaderless.withLock { $0.isEmpty } ? self.interval : .seconds(1))
                // If the broker closed the connection, the next check begins at once.
                repeat {
                    try? await Task.sleep(for: .seconds(1))
                    guard await connection?.isOpen == true else { break }
                } while ContinuousClock.now < end && !Task.isCancelled
            }
            await connection?.close()
        }
    }

    private func check(_ connection: inout AMQPConnection?) async {
        guard let suspects = await leaderless(of: queues, &connection),
            // Checked twice, because an election may just have been running.
            let found = suspects.isEmpty ? [] : await leaderless(of: suspects, &connection)
        else { return }
        let known = leaderless.withLock { known in
            defer { known = found }
            return known
        }
        guard found != known else { return }
        if let problem {
            logger.error("A queue has no leader and delivers nothing", metadata: ["problem": "\(problem)"])
        } else {
            logger.notice("Every queue has a leader again")
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
                // An operator deleted it; the services declare it when they connect.
                case .notFound: break
                default: return nil
                }
            }
        }
        return found
    }
}

/// The remedy for a quorum queue that has no leader.
public enum LeaderlessQueue {
    /// The remedy, with the command that triggers an election. Restarting the node does not help.
    public static func remedy(_ queue: String, _ configuration: AMQPConfiguration) -> String {
        // The virtual host as written in the endpoint of every node; Raft names begin with it.
        let virtualHost = configuration.endpoints.split(separator: "/").last.map(String.init) ?? "%2F"
        let election = "ra:trigger_election({'\(virtualHost)_\(queue)', node()})."
        return "start the cluster's nodes that are down; otherwise run on the node: rabbitmqctl eval \"\(election)\" "
            + "(rabbitmq-server issue 10070; a private node: scripts/rabbitmq.sh heal DIR)"
    }
}
