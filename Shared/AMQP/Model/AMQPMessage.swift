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
