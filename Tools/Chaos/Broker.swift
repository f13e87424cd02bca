import Foundation
import StackKit
import Synchronization

/// RabbitMQ as a run starts and kills it.
protocol Broker: Sendable {
    /// The services' AMQP_URL, known once it was started.
    var url: String { get }
    func start() async throws
    /// SIGKILL of a node, from 1.
    func kill(_ node: Int) async throws
    func restart(_ node: Int) async throws
    /// Gives leaders to quorum queues that have none after a crash.
    ///
    /// - Returns: how many were healed.
    func heal() async throws -> Int
    /// Deletes all that a killed node holds, but for its configuration.
    func wipe() throws
    func stop() async
}

/// One node.
struct SingleNode: Broker {
    let server: RabbitMQServer

    var url: String { server.url }

    func start() async throws { try await server.start() }
    func kill(_ node: Int) async throws { try await server.kill() }
    func restart(_ node: Int) async throws { try await server.start() }

    func heal() async throws -> Int {
        var failure: (any Error)?
        var healed = 0
        for _ in 0..<5 {
            do {
                return healed + Self.count(try await server.heal())
            } catch {
                healed += Self.count("\(error)")
                failure = error
                await pause(.milliseconds(500))
            }
        }
        if let failure { throw failure }
        return healed
    }

    func stop() async {
        try? await server.kill()
        try? await server.stop()
    }

    func wipe() throws { try server.wipe() }

    private static func count(_ output: String) -> Int {
        output.split(separator: "\n").count { $0.hasPrefix("healed ") }
    }
}

/// Three nodes, by `scripts/rabbitmq-cluster.sh start DIR | kill DIR N | restart DIR N | stop DIR`.
final class ThreeNodes: Broker {
    private let scripts: Scripts
    private let folder: URL
    private let address = Mutex("")

    init(scripts: Scripts, folder: URL) {
        (self.scripts, self.folder) = (scripts, folder)
    }

    var url: String { address.withLock { $0 } }

    /// `start` prints the nodes' URLs, separated by commas, in its last line that has any.
    func start() async throws {
        let output = try await scripts.run("rabbitmq-cluster.sh", ["start", folder.path])
        guard let line = output.split(separator: "\n").last(where: { $0.contains("amqp://") }),
            let start = line.range(of: "amqp://")?.lowerBound
        else { throw Stack.NotStarted(description: "rabbitmq-cluster.sh printed no AMQP URL: \(output)") }
        address.withLock { $0 = String(line[start...].prefix { $0 != " " }) }
    }

    func kill(_ node: Int) async throws {
        try await scripts.run("rabbitmq-cluster.sh", ["kill", folder.path, "\(node)"])
    }

    func restart(_ node: Int) async throws {
        try await scripts.run("rabbitmq-cluster.sh", ["restart", folder.path, "\(node)"])
    }

    /// The two others elect a leader themselves.
    func heal() async throws -> Int { 0 }

    /// Refused by the options.
    func wipe() throws {}

    func stop() async { _ = try? await scripts.run("rabbitmq-cluster.sh", ["stop", folder.path]) }
}
