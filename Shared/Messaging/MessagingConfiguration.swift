package import AMQP
package import Foundations
package import ServiceConfiguration

/// The address of the broker, and the settings of the dispatch queues.
package struct MessagingConfiguration: Sendable {
    /// The connection's settings: nodes, credentials, heartbeat, timeouts.
    package var amqp: AMQPConfiguration
    /// The names and arguments of exchanges and queues.
    package var topology: DispatchTopology
    /// The number of unsettled deliveries after which the broker waits (`basic.qos`), 1 to 65535.
    package var prefetch: Int
    /// How long a publish waits for its confirms.
    package var publishTimeout: Duration = .seconds(5)

    /// Checks the settings without connecting.
    ///
    /// - Parameters:
    ///   - amqpURL: see ``AMQPConfiguration/init(url:connectionName:)``.
    ///   - retryDelays: `RETRY_DELAYS`, with one delay queue per value.
    ///   - prefetch: 1 to 65535.
    ///   - connectionName: the connection's name in the broker's management views.
    ///   - prefix: the prefix of the names of exchanges and queues.
    /// - Throws: ``SetupError``.
    package init(
        amqpURL: String, retryDelays: [Duration], prefetch: Int = 256, connectionName: String,
        prefix: String = "securepush"
    ) throws(SetupError) {
        do {
            amqp = try AMQPConfiguration(url: amqpURL, connectionName: connectionName)
        } catch { throw SetupError(.invalid, error.message) }
        guard (1...65535).contains(prefetch) else {
            throw SetupError(.invalid, "the prefetch must be a number from 1 to 65535")
        }
        let allowed: ClosedRange<Duration> = .milliseconds(1) ... .seconds(86_400 * 40)
        guard !retryDelays.isEmpty, retryDelays.allSatisfy(allowed.contains) else {
            throw SetupError(.invalid, "there must be at least one retry delay, each from 1ms to 40d")
        }
        self.prefetch = prefetch
        topology = DispatchTopology(retryDelays: retryDelays, prefix: prefix)
    }
}

extension MessagingConfiguration: CustomStringConvertible {
    /// The nodes without credentials, for logs.
    package var description: String { amqp.endpoints }
}

extension MessagingConfiguration {
    /// Reads `AMQP_URL` or the file that `AMQP_URL_FILE` names, `AMQP_DECLARE` and `RETRY_DELAYS`. Nodes that are not
    /// on loopback need verified TLS, unless `ALLOW_INSECURE` contains `amqp`.
    ///
    /// - Returns: `nil` if a value is invalid; the reader holds the issue.
    package static func read(
        _ reader: inout ConfigurationReader, prefetch: Int, connectionName: String
    ) -> MessagingConfiguration? {
        let before = reader.issues.count
        let url = reader[\.amqpURL, orFile: \.amqpURLFile]
        let declare = reader[\.amqpDeclare]
        let delays = reader[\.retryDelays]
        guard reader.issues.count == before else { return nil }
        do {
            var configuration = try MessagingConfiguration(
                amqpURL: url, retryDelays: delays, prefetch: prefetch, connectionName: connectionName)
            configuration.topology.isDeclared = declare == .auto
            configuration.amqp.useAuthorities(of: reader[\.sslCertFile])
            let hosts = configuration.amqp.unverifiedHosts.filter { !InsecureLink.isLoopback($0) }
            reader.refuse(
                hosts.map { "names \($0)" }, of: \.amqpURL, as: .amqp,
                remedy: "use amqps:// without verify_none")
            // OpenSSL would ask the terminal for the password.
            for file in configuration.amqp.keyFiles {
                guard let text = try? FileContent(path: file).text else { continue }
                do throws(SetupError) { _ = try PEMBlock.privateKey(in: text) } catch {
                    reader.note(\.amqpURL, "has a keyfile that cannot be used: \(error.message)")
                    return nil
                }
            }
            return configuration
        } catch {
            reader.note(\.amqpURL, "\(error)")
            return nil
        }
    }
}

/// The names and arguments of exchanges and queues. If the broker has one of them with other arguments, it refuses the
/// declaration (406), and the services log which one.
package struct DispatchTopology: Sendable, Hashable {
    /// The routing key of the dispatch queue.
    package static let dispatchKey = "dispatch"
    /// The number of redeliveries after which the broker dead-letters a message. It only stops a message that crashes
    /// every dispatcher that takes it. Broker restarts, drains, kills and long database outages redeliver healthy
    /// messages too, and must never dead-letter one. RabbitMQ 4 would use 20 by default.
    package static let deliveryLimit: Int64 = 10_000

    /// The limit of the dead-letter queue, where the broker drops a message that exceeds the limit. Each time an
    /// operator lists the queue is a redelivery, so the limit is practically infinite; RabbitMQ 4 would drop a dead
    /// letter after 20 listings.
    package static let deadDeliveryLimit: Int64 = 1_000_000_000

    /// The prefix of every name.
    package let prefix: String
    /// The delays of retries, with one queue each.
    package let retryDelays: [Duration]
    /// Whether connecting declares exchanges and queues (`AMQP_DECLARE`), or only checks that they exist.
    package var isDeclared = true
    /// Whether this service publishes new notifications. A dispatcher does not, and with least rights its user has no
    /// permission for ``exchange``, so it does not look for it either: RabbitMQ 4.2.7 and 4.3.1 would refuse that.
    package var publishesNew = true

    /// A topology that is declared.
    package init(retryDelays: [Duration], prefix: String = "securepush") {
        self.retryDelays = retryDelays
        self.prefix = prefix
    }

    /// The exchange that routes to the dispatch queue.
    package var exchange: String { "\(prefix).notifications" }
    /// The queue that dispatchers consume.
    package var dispatchQueue: String { "\(prefix).dispatch" }
    package var deadExchange: String { "\(prefix).dead" }
    package var deadQueue: String { "\(prefix).dead" }

    /// The dispatch queue with its binding, as OpenTelemetry names a consumer's destination: `EXCHANGE:KEY:QUEUE`.
    package var dispatchDestination: String { "\(exchange):\(Self.dispatchKey):\(dispatchQueue)" }

    /// The name of a delay queue: `securepush.retry.<seconds>`, with decimals such as `securepush.retry.0.5`.
    package func retryQueue(delay: Duration) -> String {
        let milliseconds = DispatchTopology.milliseconds(delay)
        var decimals = String(milliseconds % 1000 + 1000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(prefix).retry.\(milliseconds / 1000)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }

    /// The exchanges, queues and bindings that publisher and consumer declare, or look up, on each connect.
    package var declarations: AMQPTopology {
        let retryQueues = Set(retryDelays).sorted().map { delay in
            AMQPTopology.Queue(retryQueue(delay: delay), arguments: retryArguments(delay))
        }
        var topology = AMQPTopology(
            exchanges: [.init(exchange, .direct), .init(deadExchange, .fanout)],
            queues: [
                .init(deadQueue, arguments: deadArguments),
                .init(dispatchQueue, arguments: dispatchArguments),
            ] + retryQueues,
            bindings: [
                .init(queue: deadQueue, exchange: deadExchange),
                .init(queue: dispatchQueue, exchange: exchange, key: DispatchTopology.dispatchKey),
            ])
        topology.isDeclared = isDeclared
        if !isDeclared && !publishesNew { topology.exchanges.removeAll { $0.name == exchange } }
        return topology
    }

    private var deadArguments: AMQPTable {
        ["x-queue-type": "quorum", "x-delivery-limit": .integer(DispatchTopology.deadDeliveryLimit)]
    }

    private var dispatchArguments: AMQPTable {
        [
            "x-queue-type": "quorum", "x-delivery-limit": .integer(DispatchTopology.deliveryLimit),
            "x-dead-letter-exchange": .string(deadExchange),
            // By default a quorum queue drops a message that it dead-letters before the message has arrived.
            "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
        ]
    }

    /// Delay queues are quorum queues too: a message that waits for ten minutes must survive the loss of a node.
    private func retryArguments(_ delay: Duration) -> AMQPTable {
        [
            "x-queue-type": "quorum", "x-message-ttl": .integer(DispatchTopology.milliseconds(delay)),
            "x-dead-letter-exchange": .string(exchange),
            "x-dead-letter-routing-key": .string(DispatchTopology.dispatchKey),
            "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
        ]
    }
}
