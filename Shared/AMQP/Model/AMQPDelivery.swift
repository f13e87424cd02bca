/// A message as a queue handed it out.
public struct AMQPDelivery: Sendable, Hashable {
    /// The number of the delivery on its channel, from 1.
    public var tag: UInt64
    /// The connection that the tag belongs to; a settlement of an earlier one is void, for the broker delivers again.
    public var epoch: UInt64
    /// Whether it may have been handed out before.
    public var isRedelivered: Bool
    public var message: AMQPMessage

    public init(tag: UInt64, epoch: UInt64, isRedelivered: Bool, message: AMQPMessage) {
        self.tag = tag
        self.epoch = epoch
        self.isRedelivered = isRedelivered
        self.message = message
    }
}
