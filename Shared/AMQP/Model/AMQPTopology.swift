/// Exchanges, queues and bindings that are declared, or looked up, on every connect. All are durable.
package struct AMQPTopology: Sendable, Hashable {
    package struct Exchange: Sendable, Hashable {
        /// How an exchange routes (AMQP 0-9-1, section 3.1.3).
        package enum Kind: String, Sendable { case direct, fanout, topic, headers }

        package var name: String
        package var kind: Kind

        package init(_ name: String, _ kind: Kind) {
            self.name = name
            self.kind = kind
        }
    }

    package struct Queue: Sendable, Hashable {
        package var name: String
        /// RabbitMQ's arguments, such as `x-queue-type`.
        package var arguments: AMQPTable

        package init(_ name: String, arguments: AMQPTable = AMQPTable()) {
            self.name = name
            self.arguments = arguments
        }
    }

    package struct Binding: Sendable, Hashable {
        package var queue: String
        package var exchange: String
        package var key: String

        /// A binding; a fanout exchange ignores the key.
        package init(queue: String, exchange: String, key: String = "") {
            self.queue = queue
            self.exchange = exchange
            self.key = key
        }
    }

    /// Declared first.
    package var exchanges: [Exchange]
    /// Declared second.
    package var queues: [Queue]
    /// Declared last.
    package var bindings: [Binding]
    /// Whether connecting declares them. Otherwise it only checks that exchanges and queues exist (AMQP 0-9-1,
    /// `passive`); bindings cannot be checked. That needs no permission before RabbitMQ 4.2.6 and 4.3.0, and later any
    /// permission for that exchange or queue; those two versions alone want the right to configure it.
    package var isDeclared = true

    /// A topology that is declared.
    package init(exchanges: [Exchange] = [], queues: [Queue] = [], bindings: [Binding] = []) {
        self.exchanges = exchanges
        self.queues = queues
        self.bindings = bindings
    }
}

extension AMQPTopology {
    /// Why the broker returns messages to an address, for an operator: it names the binding or the queue.
    package func reasonForReturn(exchange: String, routingKey: String) -> String {
        if exchange.isEmpty { return "the queue \(routingKey) does not exist" }
        let isFanout = exchanges.contains { $0.name == exchange && $0.kind == .fanout }
        let queues = bindings.filter { $0.exchange == exchange && (isFanout || $0.key == routingKey) }.map(\.queue)
        let queue = queues.isEmpty ? "no queue is" : "the queue \(queues.joined(separator: ", ")) is missing or not"
        return "\(queue) bound to the exchange \(exchange)" + (isFanout ? "" : " with the key \(routingKey)")
    }
}

/// The reply to a passive declaration of a queue.
package struct AMQPQueueStatus: Sendable, Hashable {
    /// The number of messages that are ready to be delivered.
    package var messages: Int
    package var consumers: Int

    package init(messages: Int, consumers: Int) {
        self.messages = messages
        self.consumers = consumers
    }
}
