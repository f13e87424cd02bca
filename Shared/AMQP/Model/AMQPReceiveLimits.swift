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
