public import AMQP

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
