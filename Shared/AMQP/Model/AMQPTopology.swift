/// Exchanges, queues and bindings that are declared, or asked for, on every connect. All are durable.
public struct AMQPTopology: Sendable, Hashable {
    public struct Exchange: Sendable, Hashable {
        public enum Kind: String, Sendable { case direct, fanout, topic, headers }

        public var name: String
        public var kind: Kind

        public init(_ name: String, _ kind: Kind) {
            self.name = name
            self.kind = kind
        }
    }

    public struct Queue: Sendable, Hashable {
        public var name: String
        public var arguments: AMQPTable

        public init(_ name: String, arguments: AMQPTable = AMQPTable()) {
            self.name = name
            self.arguments = arguments
        }
    }

    public struct Binding: Sendable, Hashable {
        public var queue: String
        public var exchange: String
        public var key: String

        public init(queue: String, exchange: String, key: String = "") {
            self.queue = queue
            self.exchange = exchange
            self.key = key
        }
    }

    public var exchanges: [Exchange]
    public var queues: [Queue]
    public var bindings: [Binding]
    /// Whether connecting declares them. Otherwise it asks whether exchanges and queues are there, which takes no
    /// permission (AMQP 0-9-1, `passive`), and bindings cannot be asked for.
    public var isDeclared = true

    public init(exchanges: [Exchange] = [], queues: [Queue] = [], bindings: [Binding] = []) {
        self.exchanges = exchanges
        self.queues = queues
        self.bindings = bindings
    }
}

/// What a queue says of itself.
public struct AMQPQueueStatus: Sendable, Hashable {
    /// Messages ready to be handed out.
    public var messages: Int
    public var consumers: Int

    public init(messages: Int, consumers: Int) {
        self.messages = messages
        self.consumers = consumers
    }
}
