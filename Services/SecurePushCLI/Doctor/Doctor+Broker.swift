import AMQP
import Domain
import Foundation
import Foundations
import Messaging
import ServiceConfiguration
import ServiceRuntime

extension Doctor {
    /// Checks that the broker accepts the login and messages, and that every queue has a leader and the arguments that
    /// the services declare.
    func broker() async -> [Finding] {
        let part = "AMQP_URL"
        guard let url = settings[part] else { return [] }
        var findings: [Finding] = []
        do {
            try Settings.requireReadable(url, of: part)
            let configuration = try AMQPConfiguration(url: url, connectionName: "securepush doctor")
            let connection = try await AMQPConnection.open(configuration)
            findings.append(.ok(part, "\(configuration.endpoints) accepts the login"))
            findings += await Doctor.alarm(configuration)
            findings += await queues(connection, configuration)
            findings += await rights(connection)
            await connection.close()
        } catch let error as AMQPError where error.code == .accessRefused {
            findings.append(.failed(part, error.message, "Correct the user, password or virtual host in AMQP_URL."))
        } catch let error as AMQPError {
            findings.append(
                .unreachable(part, error.message, "Is RabbitMQ running there?"))
        } catch {
            findings.append(.failed(part, CommandFailure(describing: error).message, "Correct AMQP_URL."))
        }
        return findings
    }

    /// Checks whether a memory or disk alarm blocks the broker. RabbitMQ tells only publishers, so this publishes to a
    /// queue that does not exist; the broker returns the message.
    private static func alarm(_ configuration: AMQPConfiguration) async -> [Finding] {
        let publisher: AMQPPublisher
        do {
            publisher = try AMQPPublisher(
                configuration: configuration, publishTimeout: .seconds(3), logger: .silent)
        } catch {
            return [
                .failed(
                    "AMQP_URL", ErrorText.describe(error),
                    "Raise the limits of descriptors and threads (ulimit -n, -u).")
            ]
        }
        let probe = AMQPMessage(exchange: "", routingKey: "securepush.doctor.no-such-queue", body: [])
        // The broker still accepts the first message after an alarm.
        let result = await last(of: [probe, probe], publisher)
        guard case .failure(let error)? = result, error.code == .blocked || error.code == .timeout else { return [] }
        return [
            .failed(
                "broker alarm", "the broker accepts no messages: \(error.message)",
                "On the node, run rabbitmqctl status (alarms, memory, disk), then free memory or disk space. "
                    + "Ingest still accepts notifications.")
        ]
    }

    /// Checks whether IDs reach the dispatch queue, by an ID that no notification has. A dispatcher drops it.
    private static func binding(_ configuration: AMQPConfiguration, _ topology: DispatchTopology) async -> [Finding] {
        guard
            let publisher = try? AMQPPublisher(
                configuration: configuration, publishTimeout: .seconds(3), logger: .silent)
        else { return [] }
        let unknown = AMQPMessage(
            exchange: topology.exchange, routingKey: DispatchTopology.dispatchKey,
            body: Array(NotificationID().description.utf8))
        guard case .failure(let error)? = await last(of: [unknown], publisher),
            error.code == .returned || error.replyCode == 404
        else { return [] }
        let reason = topology.declarations.reasonForReturn(
            exchange: topology.exchange, routingKey: DispatchTopology.dispatchKey)
        return [
            .failed(
                "binding", "IDs do not reach the dispatchers: \(reason)",
                "Running services declare it again within seconds, unless AMQP_DECLARE=check: run doctor again. "
                    + "Otherwise start ingest once with AMQP_DECLARE=auto.")
        ]
    }

    /// Publishes messages one after another.
    ///
    /// - Returns: the result of the last one.
    private static func last(
        of messages: [AMQPMessage], _ publisher: AMQPPublisher
    ) async -> Result<Void, AMQPError>? {
        try? await withRunning(publisher) {
            let end = ContinuousClock.now + .seconds(5)
            while !publisher.isConnected && ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            var result: Result<Void, AMQPError>?
            for message in messages { result = await publisher.publish([message]).first }
            return result
        }
    }

    private func queues(_ connection: AMQPConnection, _ configuration: AMQPConfiguration) async -> [Finding] {
        var reader = ConfigurationReader(environment: settings.all)
        let delays = reader[\.retryDelays]
        guard reader.issues.isEmpty else {
            let problem = reader.issues.first?.problem ?? "is invalid"
            return [.failed("RETRY_DELAYS", problem, "Correct RETRY_DELAYS, for example 1s,5s,30s,2m,10m.")]
        }
        var topology = DispatchTopology(retryDelays: delays)
        // A user without the right to configure can inspect a queue, but not compare its arguments.
        topology.isDeclared = reader[\.amqpDeclare] != .check
        var findings: [Finding] = []
        var missing: [Int] = []
        var other: String?
        for queue in topology.declarations.queues {
            do {
                let status = try await connection.inspect(queue: queue.name)
                try await Doctor.expectLeader(of: queue.name, configuration)
                let difference = await Doctor.difference(of: queue, topology, connection)
                if difference != nil { other = queue.name }
                findings.append(difference ?? Doctor.queue(queue.name, status, topology))
                if queue.name == topology.dispatchQueue, status.consumers > 0 {
                    findings += await Doctor.binding(configuration, topology)
                }
            } catch let error as AMQPError {
                if error.code == .notFound { missing.append(findings.count) }
                findings.append(Doctor.queue(queue.name, error, configuration))
            } catch {
                findings.append(
                    .unreachable("queue \(queue.name)", ErrorText.describe(error), "Check the broker's log."))
            }
        }
        for index in missing { findings[index].advice = Doctor.adviceForMissing(topology, besides: other) }
        if missing.isEmpty, other == nil { findings.append(await Doctor.compare(topology, connection)) }
        return findings
    }

    /// The rights that a service needs to declare a queue, or why it cannot.
    ///
    /// - Parameter other: a queue with other arguments, at which a service stops declaring.
    static func adviceForMissing(_ topology: DispatchTopology, besides other: String?) -> String {
        if let other { return "The services declare it when \(other) has the right arguments." }
        return topology.isDeclared
            ? "Start ingest or a dispatcher, which declare the queues. If one runs, its /readyz says why it cannot."
            : "Import the definitions of `securepush setup`, or start ingest once with AMQP_DECLARE=auto."
    }

    /// The broker's message about a queue that exists with other arguments, as `/readyz` of the services does; `nil` if
    /// it has the right ones.
    private static func difference(
        of queue: AMQPTopology.Queue, _ topology: DispatchTopology, _ connection: AMQPConnection
    ) async -> Finding? {
        var alone = AMQPTopology(queues: [queue])
        alone.isDeclared = topology.isDeclared
        do throws(AMQPError) {
            try await connection.declare(alone)
            return nil
        } catch {
            // The right to declare is reported once, for the whole topology.
            guard error.code == .preconditionFailed else { return nil }
            return .failed("queue \(queue.name)", error.message, adviceForOther(queue.name))
        }
    }

    private static func adviceForOther(_ queue: String) -> String {
        "If you changed RETRY_DELAYS, change it back. Otherwise replay or purge the dead letters, stop the services, "
            + "run rabbitmqctl delete_queue \(queue), and start the services. The outbox refills the queues."
    }

    /// Uses its own connection, because a queue without a leader makes it unusable.
    private static func expectLeader(of queue: String, _ configuration: AMQPConfiguration) async throws {
        var configuration = configuration
        configuration.replyTimeout = .seconds(2)
        try await AMQPConnection.with(configuration) { try await $0.expectLeader(of: queue) }
    }

    /// A queue that answers: the dispatch queue needs a consumer, the dead-letter queue must be empty.
    static func queue(_ name: String, _ status: AMQPQueueStatus, _ topology: DispatchTopology) -> Finding {
        let part = "queue \(name)"
        if name == topology.deadQueue, status.messages > 0 {
            return .warning(
                part, counted(status.messages, "dead letter"),
                "See the reasons with `securepush dead-letters list`, then replay or purge them.")
        }
        if name == topology.dispatchQueue, status.consumers == 0 {
            return .failed(part, "\(counted(status.messages, "message")), no consumer", "Start a dispatcher.")
        }
        return .ok(part, "\(counted(status.messages, "message")), \(counted(status.consumers, "consumer"))")
    }

    static func queue(_ name: String, _ error: AMQPError, _ configuration: AMQPConfiguration) -> Finding {
        let part = "queue \(name)"
        switch error.code {
        case .notFound:
            return .failed(part, "is not declared", "Start ingest or a dispatcher, which declare the queues.")
        case .accessRefused:
            return .failed(
                part, "the user of AMQP_URL may not read it",
                "Give the user the rights of `securepush setup broker-users`.")
        case .queueUnavailable:
            return .failed(
                part, "has no leader: it confirms and delivers nothing", LeaderlessQueue.remedy(name, configuration))
        default: return .unreachable(part, error.message, "Check the broker's log.")
        }
    }

    /// Declares everything again. Because all queues exist, the broker only compares, and names an argument that
    /// differs.
    private static func compare(_ topology: DispatchTopology, _ connection: AMQPConnection) async -> Finding {
        let part = "topology"
        do {
            try await connection.declare(topology.declarations)
            return .ok(part, "matches the services")
        } catch {
            return .failed(
                part, error.message,
                "Stop the services, delete the objects that the message names, and start the services. If they have "
                    + "AMQP_DECLARE=check, set it here too.")
        }
    }
}
