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
