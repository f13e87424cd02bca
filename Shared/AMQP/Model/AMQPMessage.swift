/// A message with the properties that are used here (AMQP 0-9-1, class basic).
package struct AMQPMessage: Sendable, Hashable {
    /// The exchange; empty for the default exchange, where the routing key is a queue's name.
    package var exchange: String
    /// The key by which the exchange chooses queues.
    package var routingKey: String
    package var body: [UInt8]
    /// A MIME type, or `nil`.
    package var contentType: String?
    /// The application's ID of the message; a returned message is recognised by it.
    package var messageID: String?
    /// Whether a durable queue keeps the message over a restart (`delivery-mode` 2).
    package var isPersistent: Bool
    /// Milliseconds until the queue may drop the message, or `nil`.
    package var expiration: UInt64?
    package var headers: AMQPTable

    /// A message that is persistent unless told otherwise.
    package init(
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

/// A message as a queue delivered it.
package struct AMQPDelivery: Sendable, Hashable {
    /// The number of the delivery on its channel, from 1.
    package var tag: UInt64
    /// The number of the connection that the tag belongs to. A settlement for an earlier connection is ignored, because
    /// the broker redelivers the message.
    package var epoch: UInt64
    /// Whether the message may have been delivered before.
    package var isRedelivered: Bool
    /// The message; see ``AMQPReceiveLimits`` for its body and headers.
    package var message: AMQPMessage
    /// The length of the body as the broker announced it, in bytes.
    package var bodyBytes: UInt64
    /// The length of properties and headers on the wire, in bytes.
    package var headerBytes: Int

    /// A delivery whose body is whole unless `bodyBytes` says otherwise.
    package init(
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
    package var isBodyWhole: Bool { bodyBytes == UInt64(message.body.count) }
}

/// How much of an arriving message is held in memory. The rest is read from the connection and dropped.
package struct AMQPReceiveLimits: Sendable, Hashable {
    /// The longest body that is held, in bytes; a longer body is delivered empty.
    package var maxBodyBytes: Int
    /// The longest properties and headers that are read, in bytes on the wire; longer ones are delivered as if there
    /// were none. A frame holds at most 128 KiB (`frame_max`).
    package var maxHeaderBytes: Int

    /// Limits in bytes. RabbitMQ 4 accepts messages of up to 16 MiB (`max_message_size`), earlier versions 128 MiB.
    package init(maxBodyBytes: Int = 16 << 20, maxHeaderBytes: Int = 128 << 10) {
        self.maxBodyBytes = maxBodyBytes
        self.maxHeaderBytes = maxHeaderBytes
    }
}

/// A field table of AMQP 0-9-1 (section 4.2.5.5): headers of a message, arguments of a queue. Keeps its order.
package struct AMQPTable: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package var key: String
        package var value: AMQPValue

        package init(_ key: String, _ value: AMQPValue) {
            self.key = key
            self.value = value
        }
    }

    /// The entries in their order; a name may repeat.
    package var entries: [Entry]

    package init(_ entries: [Entry] = []) { self.entries = entries }

    package var isEmpty: Bool { entries.isEmpty }

    /// The value of the first entry with this name. Setting replaces it; setting `nil` removes it.
    package subscript(key: String) -> AMQPValue? {
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
    package init(dictionaryLiteral elements: (String, AMQPValue)...) {
        self.init(elements.map { Entry($0.0, $0.1) })
    }
}

/// A value of a field table. AMQP's decimals are read as ``void``.
package enum AMQPValue: Sendable, Hashable {
    case string(String)
    /// Any integer kind, and timestamps; sent as a signed 64-bit integer.
    case integer(Int64)
    case boolean(Bool)
    case double(Double)
    case table(AMQPTable)
    case array([AMQPValue])
    case void

    package var string: String? { if case .string(let value) = self { value } else { nil } }

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
}

extension AMQPValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}
