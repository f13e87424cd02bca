import AMQP
import Messaging
import ServiceConfiguration
import ServiceRuntime

extension Doctor {
    /// The broker takes our login; each queue is declared as the services declare it, and has a leader.
    func broker() async -> [Finding] {
        let part = "AMQP_URL"
        guard let url = settings[part] else { return [] }
        var findings: [Finding] = []
        do {
            let configuration = try AMQPConfiguration(url: url, connectionName: "securepush doctor")
            let connection = try await AMQPConnection.open(configuration)
            findings.append(.ok(part, "\(configuration.endpoints) takes our login"))
            findings += await queues(connection)
            await connection.close()
        } catch let error as AMQPError where error.code == .accessRefused {
            findings.append(.faulty(part, error.message, "Correct user, password or virtual host in AMQP_URL."))
        } catch let error as AMQPError {
            findings.append(
                .unreachable(part, error.message, "Is RabbitMQ running there? `make up` starts a private one."))
        } catch {
            findings.append(.faulty(part, "\(error)", "Correct AMQP_URL."))
        }
        return findings
    }

    private func queues(_ connection: AMQPConnection) async -> [Finding] {
        var reader = ConfigurationReader(environment: settings.all)
        let topology = DispatchTopology(retryDelays: reader.read(ConfigurationKeys.retryDelays) ?? [])
        var findings: [Finding] = []
        for queue in topology.declarations.queues { findings.append(await Doctor.queue(queue.name, connection)) }
        guard findings.allSatisfy({ $0.state == .ok }) else { return findings }
        // Everything is there, so that declaring it again only compares.
        do {
            try await connection.declare(topology.declarations)
            findings.append(.ok("topology", "as the services declare it"))
        } catch {
            findings.append(
                .faulty(
                    "topology", error.message, "Delete what differs while no service runs; the outbox fills it again."))
        }
        return findings
    }

    private static func queue(_ name: String, _ connection: AMQPConnection) async -> Finding {
        let part = "queue \(name)"
        do {
            let status = try await connection.inspect(queue: name)
            return .ok(part, "\(status.messages) messages wait, \(status.consumers) consumers")
        } catch {
            switch error.code {
            case .notFound:
                return .faulty(
                    part, "is not declared", "Start a dispatcher or ingest once; they declare what they use.")
            case .queueUnavailable:
                let election = "ra:trigger_election({'%2F_\(name)', node()})."
                return .faulty(
                    part, error.message,
                    "On the node: rabbitmqctl eval \"\(election)\" (rabbitmq-server issue 10070)")
            default: return .unreachable(part, error.message, "Look at the broker's log.")
            }
        }
    }
}
