public import AMQP
public import ServiceConfiguration

/// Where the broker is and how the dispatch queues are set up.
public struct MessagingConfiguration: Sendable {
    /// The connection's settings: nodes, credentials, heartbeat, timeouts.
    public var amqp: AMQPConfiguration
    public var topology: DispatchTopology
    /// Deliveries that the broker hands out before it waits for settlements, 1 to 65535.
    public var prefetch: Int
    /// How long a publish waits for its confirms.
    public var publishTimeout: Duration = .seconds(5)

    /// - Parameters:
    ///   - amqpURL: see ``AMQPConfiguration/init(url:connectionName:)``.
    ///   - retryDelays: `RETRY_DELAYS`, one delay queue each.
    ///   - connectionName: the connection's name in the broker's management views.
    ///   - prefix: what the names of exchanges and queues begin with.
    public init(
        amqpURL: String, retryDelays: [Duration], prefetch: Int = 256, connectionName: String,
        prefix: String = "securepush"
    ) throws(MessagingConfigurationError) {
        do {
            amqp = try AMQPConfiguration(url: amqpURL, connectionName: connectionName)
        } catch { throw MessagingConfigurationError(message: error.message) }
        guard (1...65535).contains(prefetch) else {
            throw MessagingConfigurationError(message: "the prefetch is not a number from 1 to 65535")
        }
        let usable: ClosedRange<Duration> = .milliseconds(1) ... .seconds(86_400 * 40)
        guard !retryDelays.isEmpty, retryDelays.allSatisfy(usable.contains) else {
            throw MessagingConfigurationError(message: "a retry delay is not between 1ms and 40d, or there is none")
        }
        self.prefetch = prefetch
        topology = DispatchTopology(retryDelays: retryDelays, prefix: prefix)
    }
}

/// A setting that cannot be used. Its message never holds a credential.
public struct MessagingConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    public var message: String
    public var description: String { message }
}

extension MessagingConfiguration {
    /// The keys that ``read(_:prefetch:connectionName:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.amqpURL, ConfigurationKeys.amqpURLFile, ConfigurationKeys.amqpDeclare,
            ConfigurationKeys.retryDelays, ConfigurationKeys.allowInsecure,
        ]
    }

    /// Reads `AMQP_URL`, or the file that `AMQP_URL_FILE` names, `AMQP_DECLARE` and `RETRY_DELAYS`. Nodes beyond
    /// loopback need verified TLS, unless `ALLOW_INSECURE` names `amqp`.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(
        _ reader: inout ConfigurationReader, prefetch: Int, connectionName: String
    ) -> MessagingConfiguration? {
        let url = reader.read(ConfigurationKeys.amqpURL, orFile: ConfigurationKeys.amqpURLFile)
        let declare = reader.read(ConfigurationKeys.amqpDeclare)
        let delays = reader.read(ConfigurationKeys.retryDelays)
        guard let url, let declare, let delays else { return nil }
        do {
            var configuration = try MessagingConfiguration(
                amqpURL: url, retryDelays: delays, prefetch: prefetch, connectionName: connectionName)
            configuration.topology.isDeclared = declare == .auto
            let hosts = configuration.amqp.unverifiedHosts.filter { !InsecureLink.isLoopback($0) }
            reader.refuse(
                hosts.map { "names \($0)" }, of: ConfigurationKeys.amqpURL.name, as: .amqp,
                remedy: "use amqps:// without verify_none")
            return configuration
        } catch {
            reader.note(ConfigurationKeys.amqpURL.name, "\(error)")
            return nil
        }
    }
}

/// The names of exchanges and queues, and how they are declared. A broker that has one of them with other arguments
/// refuses the declaration (406), and the services say which.
public struct DispatchTopology: Sendable, Hashable {
    /// The routing key of the dispatch queue.
    public static let dispatchKey = "dispatch"
    /// Redeliveries of one message before the broker gives it up to the dead-letter exchange. It only ends what crashes
    /// every dispatcher that takes it: broker restarts, drains, kills and a database that is away for hours redeliver
    /// healthy messages too, with all others of the prefetch, and must never park one. RabbitMQ 4 would take 20 where
    /// nothing is said.
    public static let deliveryLimit: Int64 = 10_000

    /// The same for the dead-letter queue. Each look of an operator at it is a redelivery, and what passes the limit is
    /// dropped there, so that it is as good as none; RabbitMQ 4 would drop a dead letter after 20 looks.
    public static let deadDeliveryLimit: Int64 = 1_000_000_000

    /// What every name begins with.
    public let prefix: String
    /// The times that retries wait, one queue each.
    public let retryDelays: [Duration]
    /// Whether connecting declares them (`AMQP_DECLARE`).
    public var isDeclared = true

    public init(retryDelays: [Duration], prefix: String = "securepush") {
        self.retryDelays = retryDelays
        self.prefix = prefix
    }

    public var exchange: String { "\(prefix).notifications" }
    public var dispatchQueue: String { "\(prefix).dispatch" }
    public var deadExchange: String { "\(prefix).dead" }
    public var deadQueue: String { "\(prefix).dead" }

    /// `securepush.retry.<seconds>`; parts of a second as decimals, `securepush.retry.0.5`.
    public func retryQueue(delay: Duration) -> String {
        let milliseconds = DispatchTopology.milliseconds(delay)
        var decimals = String(milliseconds % 1000 + 1000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(prefix).retry.\(milliseconds / 1000)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }

    /// What publisher and consumer declare, or ask for, on each connect.
    public var declarations: AMQPTopology {
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
        return topology
    }

    private var deadArguments: AMQPTable {
        ["x-queue-type": "quorum", "x-delivery-limit": .integer(DispatchTopology.deadDeliveryLimit)]
    }

    private var dispatchArguments: AMQPTable {
        [
            "x-queue-type": "quorum", "x-delivery-limit": .integer(DispatchTopology.deliveryLimit),
            "x-dead-letter-exchange": .string(deadExchange),
            // A quorum queue forgets what it dead-letters before it has arrived, unless told not to.
            "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
        ]
    }

    /// Quorum queues too: what waits for ten minutes must outlive a node as well as what waits for none.
    private func retryArguments(_ delay: Duration) -> AMQPTable {
        [
            "x-queue-type": "quorum", "x-message-ttl": .integer(DispatchTopology.milliseconds(delay)),
            "x-dead-letter-exchange": .string(exchange),
            "x-dead-letter-routing-key": .string(DispatchTopology.dispatchKey),
            "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
        ]
    }
}
