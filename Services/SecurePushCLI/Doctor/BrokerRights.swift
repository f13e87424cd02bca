import AMQP
import Messaging
import ServiceConfiguration

/// The rights of a user of the broker that the services need for publishing. Whether the user may read the queues shows
/// when these are examined.
struct BrokerRights: Sendable, Equatable {
    /// `securepush.notifications`: ingest, and the command line's replay.
    var publishesNew: Bool
    /// `securepush.dead`: a dispatcher.
    var publishesDead: Bool
    /// The default exchange, by which a dispatcher puts retries into the delay queues.
    var publishesRetries: Bool

    /// - Throws: ``AMQPError`` if the broker does not answer.
    init(of connection: AMQPConnection, _ topology: DispatchTopology) async throws {
        publishesNew = try await connection.mayPublish(to: topology.exchange)
        publishesDead = try await connection.mayPublish(to: topology.deadExchange)
        publishesRetries = try await connection.mayPublish(to: "")
    }

    init(publishesNew: Bool, publishesDead: Bool, publishesRetries: Bool) {
        (self.publishesNew, self.publishesDead) = (publishesNew, publishesDead)
        self.publishesRetries = publishesRetries
    }

    /// A user has the rights of one service at least. A part of a dispatcher's rights is a mistake.
    func finding(_ topology: DispatchTopology) -> Finding {
        let part = "rights"
        let missing = [
            (publishesNew, topology.exchange), (publishesDead, topology.deadExchange),
            (publishesRetries, "the default exchange (amq.default)"),
        ].filter { !$0.0 }.map(\.1).joined(separator: " and ")
        switch (publishesNew, publishesDead, publishesRetries) {
        case (true, true, true): return .ok(part, "the user may publish what ingest and a dispatcher publish")
        case (true, false, false):
            return .ok(part, "the user may publish what ingest publishes; a dispatcher needs \(missing) too")
        case (false, true, true):
            return .ok(part, "the user may publish what a dispatcher publishes; ingest needs \(missing) too")
        default:
            let who =
                publishesNew
                ? "a dispatcher" : publishesDead || publishesRetries ? "any service" : "ingest or a dispatcher"
            return .failed(
                part, "the user may not publish to \(missing), as \(who) has to",
                "Give the user of AMQP_URL the rights of `securepush setup broker-users`.")
        }
    }
}

extension Doctor {
    /// Tries the operations of the services at the broker without an effect.
    func rights(_ connection: AMQPConnection) async -> [Finding] {
        var reader = ConfigurationReader(environment: settings.all)
        let topology = DispatchTopology(retryDelays: reader[\.retryDelays])
        do {
            return [try await BrokerRights(of: connection, topology).finding(topology)]
        } catch {
            return [.unreachable("rights", CommandFailure(describing: error).message, "Check the broker's log.")]
        }
    }
}
