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
