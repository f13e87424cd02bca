/// Takes deliveries from the broker.
public protocol DispatchConsumer: Sendable {
    /// All that has arrived, at most `limit`; waits when nothing has. `nil` once the consumer is drained: it was
    /// cancelled for shutdown and holds nothing more.
    func next(limit: Int) async -> [DispatchDelivery]?

    /// Acknowledges deliveries whose outcome is stored. Returns at once; acknowledgements leave in groups.
    ///
    /// A delivery that could not be read (``DispatchDelivery/message`` is `nil`) is moved to the dead-letter queue as
    /// it came, with the reason, before it is acknowledged.
    func acknowledge(_ deliveries: [DispatchDelivery])

    /// Gives deliveries back to the queue, for another consumer: used when draining and when the store is down.
    func requeue(_ deliveries: [DispatchDelivery])

    /// Whether deliveries can arrive now.
    var isConnected: Bool { get }
}
