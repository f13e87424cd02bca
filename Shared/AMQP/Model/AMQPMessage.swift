/// A message with the properties that are used here (AMQP 0-9-1, class basic).
public struct AMQPMessage: Sendable, Hashable {
    /// The exchange it goes to; empty for the default exchange, where the routing key is a queue's name.
    public var exchange: String
    public var routingKey: String
    public var body: [UInt8]
    /// A MIME type, or `nil`.
    public var contentType: String?
    /// The application's ID of the message; a returned message is known again by it.
    public var messageID: String?
    /// Whether a durable queue keeps it over a restart (`delivery-mode` 2).
    public var isPersistent: Bool
    /// Milliseconds until the queue may drop it, or `nil`.
    public var expiration: UInt64?
    public var headers: AMQPTable

    public init(
        exchange: String, routingKey: String, body: [UInt8], contentType: String? = nil, messageID: String? = nil,
        isPersistent: Bool = true, expiration: UInt64? = nil, headers: AMQPTable = AMQPTable()
    ) {
        self.exchange = exchange
        self.routingKey = routingKey
        self.body = body
        self.contentType = contentType
        self.messageID = messageID
        self.isPersistent = isPersistent
        self.expiration = expiration
        self.headers = headers
    }
}

/// A message as a queue handed it out.
public struct AMQPDelivery: Sendable, Hashable {
    /// The number of the delivery on its channel, from 1.
    public var tag: UInt64
    /// The connection that the tag belongs to; a settlement of an earlier one is void, for the broker delivers again.
    public var epoch: UInt64
    /// Whether it may have been handed out before.
    public var isRedelivered: Bool
    public var message: AMQPMessage
    /// The length of the body as the broker told it; see ``AMQPReceiveLimits``.
    public var bodyBytes: UInt64
    /// The length of properties and headers as they travelled.
    public var headerBytes: Int

    public init(
        tag: UInt64, epoch: UInt64, isRedelivered: Bool, message: AMQPMessage, bodyBytes: UInt64? = nil,
        headerBytes: Int = 0
    ) {
        self.tag = tag
        self.epoch = epoch
        self.isRedelivered = isRedelivered
        self.message = message
        self.bodyBytes = bodyBytes ?? UInt64(message.body.count)
        self.headerBytes = headerBytes
    }

    /// Whether the whole body is in ``message``.
    public var isBodyWhole: Bool { bodyBytes == UInt64(message.body.count) }
}

/// How much of a message from the broker is held in memory. The rest is read from the connection and dropped.
public struct AMQPReceiveLimits: Sendable, Hashable {
    /// The longest body that is held, in bytes; a longer one is delivered empty.
    public var maxBodyBytes: Int
    /// The longest properties and headers that are read, in bytes as they travel; longer ones are delivered as if there
    /// were none. A frame holds 128 KiB at most (`frame_max`).
    public var maxHeaderBytes: Int

    /// - Parameter maxBodyBytes: 16 MiB is what RabbitMQ 4 takes of a publisher (`max_message_size`); earlier ones take
    ///   128 MiB.
    public init(maxBodyBytes: Int = 16 << 20, maxHeaderBytes: Int = 128 << 10) {
        self.maxBodyBytes = maxBodyBytes
        self.maxHeaderBytes = maxHeaderBytes
    }
}

/// A field table of AMQP 0-9-1 (section 4.2.5.5): headers of a message, arguments of a queue. Keeps its order.
public struct AMQPTable: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public var key: String
        public var value: AMQPValue

        public init(_ key: String, _ value: AMQPValue) {
            self.key = key
            self.value = value
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) { self.entries = entries }

    public var isEmpty: Bool { entries.isEmpty }

    /// The value of the first entry of that name; setting replaces it, and `nil` removes it.
    public subscript(key: String) -> AMQPValue? {
        get { entries.first { $0.key == key }?.value }
        set {
            let index = entries.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(key, value))
            case (nil, nil): break
            }
        }
    }
}

extension AMQPTable: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, AMQPValue)...) {
        self.init(elements.map { Entry($0.0, $0.1) })
    }
}

/// A value of a field table. Kinds that AMQP has and this does not (decimals) are read as ``void``.
public enum AMQPValue: Sendable, Hashable {
    case string(String)
    /// Any of the integer kinds, and timestamps; sent as a signed 64-bit integer.
    case integer(Int64)
    case boolean(Bool)
    case double(Double)
    case table(AMQPTable)
    case array([AMQPValue])
    case void

    /// The text, when it is a string.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number, when it is an integer.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
}

extension AMQPValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
