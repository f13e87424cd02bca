package import Foundations

extension DispatchStore {
    /// Claims notifications of deliveries that do not own the first attempt.
    package func claim(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        try await claim(ids, first: [], now: now)
    }
}

package protocol DispatchConsumer: Sendable {
    /// All deliveries that have arrived, at most `limit`. Waits while there is none.
    ///
    /// - Returns: `nil` after the consumer is drained: it was cancelled for shutdown and holds no more deliveries.
    func next(limit: Int) async -> [DispatchDelivery]?

    /// Acknowledges deliveries whose outcome is stored. Returns at once; acknowledgements are sent in groups.
    ///
    /// A delivery that could not be read (``DispatchDelivery/message`` is `nil`) is moved to the dead-letter queue
    /// unchanged, with the reason, before it is acknowledged.
    func acknowledge(_ deliveries: [DispatchDelivery])

    /// Acknowledges deliveries that do no harm if they come again, because their outcome is stored and no message
    /// follows from it. Their acknowledgements may wait for those of earlier deliveries, to leave as one.
    func acknowledgeLater(_ deliveries: [DispatchDelivery])

    /// Returns deliveries to the queue for another consumer, while draining and while the store is down.
    func requeue(_ deliveries: [DispatchDelivery])

    /// Whether deliveries can arrive now.
    var isConnected: Bool { get }
}

extension DispatchConsumer {
    /// Acknowledges at once, for consumers that gain nothing from waiting.
    package func acknowledgeLater(_ deliveries: [DispatchDelivery]) { acknowledge(deliveries) }
}

package protocol DispatchPublisher: Sendable {
    /// Publishes messages together, each to its own route, and waits for the broker's answer to each.
    ///
    /// - Returns: one result per message, in the same order: success after the broker has confirmed the message, or the
    ///   reason why not. A message that failed may still have been queued.
    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>]

    /// Whether a publish can be expected to succeed now.
    var isConnected: Bool { get }

    /// Where a task that publishes often should run; `nil` if it does not matter. The task must not block.
    var executor: (any TaskExecutor)? { get }
}

extension DispatchPublisher {
    /// `nil`: it does not matter where tasks run.
    package var executor: (any TaskExecutor)? { nil }

    /// Publishes messages to one route.
    ///
    /// - Returns: as ``publish(_:)``.
    package func publish(
        _ messages: [DispatchMessage], to route: DispatchRoute
    ) async -> [Result<Void, MessagingError>] {
        await publish(messages.map { (message: $0, route: route) })
    }
}

/// Measures the dispatch queue.
package protocol DispatchQueueProbe: Sendable {
    /// The number of messages in the dispatch queue that no dispatcher has received yet; `nil` if the broker cannot be
    /// asked now.
    func readyDispatches() async -> Int?
}

/// The dead-letter queue, as an operator works through it.
///
/// Dead letters are received one after another and held: no other consumer gets them, and they stay in the broker.
/// After the queue is closed, those that were not removed are back in their place.
package protocol DeadLetterQueue: Sendable {
    /// The number of dead letters in the queue, without those that are held.
    func count() async throws -> Int

    /// Receives and holds the next dead letter; `nil` if there is none left.
    func next() async throws -> DeadLetter?

    /// Removes a dead letter that is held.
    func remove(_ letter: DeadLetter) async throws

    /// Removes all dead letters that nobody holds, and returns how many there were.
    func purge() async throws -> Int

    /// Requeues the dead letters that are held, and ends the connection.
    func close() async
}

/// A message of the dead-letter queue that is held for an operator.
package struct DeadLetter: Sendable, Hashable {
    /// The broker's number of the delivery on the connection that holds it.
    package var tag: UInt64
    /// The message; `nil` if it cannot be read because its body is not the ID of a notification.
    package var message: DispatchMessage?
    /// Why it was dead-lettered; never anything of a payload.
    package var reason: String
    /// The length of its body in bytes. Nothing else may be shown of an unreadable message.
    package var byteCount: Int

    package init(tag: UInt64, message: DispatchMessage?, reason: String, byteCount: Int) {
        self.tag = tag
        self.message = message
        self.reason = reason
        self.byteCount = byteCount
    }
}
