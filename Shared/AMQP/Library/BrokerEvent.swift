/// What the broker sent on its own account.
enum BrokerEvent: Sendable {
    /// `basic.ack` or `basic.nack` of a published message, and of all before it when `isMultiple`.
    case confirmed(tag: UInt64, isMultiple: Bool, isRefusal: Bool)
    /// `basic.return`: no queue would have the message. The confirm that follows must not turn it into a success.
    case returned(AMQPMessage, reason: String)
    case delivered(AMQPDelivery)
    /// `basic.cancel`: the queue was deleted, or moved.
    case consumerCancelled
    case blocked(reason: String)
    case unblocked
    /// The broker closed the channel or the connection.
    case closed(AMQPError)
}
