/// The store as the dispatcher uses it: it claims notifications and records the results.
package protocol DispatchStore: Sendable {
    /// Reads the plans of notifications whose first attempt is open, and writes nothing. Call it only with IDs of
    /// deliveries that own the first attempt (``DispatchDelivery/ownsFirstAttempt``).
    ///
    /// The first attempt is open if the row was stored with it (``SealedNotification/claimsFirstAttempt``), and nobody
    /// has claimed the notification, entered work on it or recorded an outcome. Other IDs are absent from the answer,
    /// and so are those whose outbox entry is due within ``OutboxPolicy/notice``, and those whose `NotBefore` is after
    /// `now`: claim these.
    ///
    /// Work that takes longer than ``OutboxPolicy/entry`` must be entered (``enter(_:now:)``), because the outbox does
    /// not see it otherwise.
    ///
    /// - Throws: ``StorageError``, also if the store is known to take no writes now: a push that cannot be recorded
    ///   must not be sent. Repeating it is harmless.
    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims

    /// Enters the work on first attempts that ``begin(_:now:)`` has returned: stores the time, and an accepted
    /// notification becomes queued. Changes only rows whose first attempt is still open, so repeating it is harmless.
    func enter(_ ids: [NotificationID], now: Timestamp) async throws

    /// Claims notifications in one statement: increments the attempt of each, stores the time, and returns its plan. An
    /// accepted notification becomes queued; any other status stays. An unknown ID is absent from the answer, and an ID
    /// that is given twice is claimed once.
    ///
    /// A row that this program cannot read is reported by its ID. It does not keep other rows from being claimed.
    /// Neither does a row whose `NotBefore` is after `now` (``DispatchClaims/early``). It stays as it is: the outbox
    /// publishes it when its time has come, and whatever is in the broker before that has another origin.
    ///
    /// - Parameter first: the IDs among them whose deliveries own the first attempt. If it is still open, this is it:
    ///   the number stays 1.
    /// - Throws: ``StorageError`` if the statement as a whole failed. Repeating it increments the attempts again, so
    ///   repeat it only if ``StorageError/isRetriable``.
    func claim(_ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp) async throws -> DispatchClaims

    /// Removes notifications with rows that cannot be read, or that the store refuses to change, from the outbox, after
    /// a dead letter was published for each. Otherwise their IDs would be published and dead-lettered again and again.
    /// The rows stay unchanged.
    func abandon(_ ids: [NotificationID]) async throws

    /// Stores outcomes, each only if its attempt is still the newest. Also changes the outbox: the entry of a final
    /// outcome (``DispatchOutcome/isFinal``) is removed. The entry of a notification that is to be tried again counts
    /// as published and is due ``OutboxPolicy/redelivery`` after the next try. The entry of one that waits
    /// (``DispatchOutcome/dueAgain``) is leased at that time like an unpublished one, and its claim has ended.
    ///
    /// The same statement makes what follows from a push that was accepted: the first reminder
    /// (``DispatchOutcome/pushedAt``), and a withdrawal if the notification was revoked, or read, in the meantime.
    ///
    /// Those that wait may be stored after the others, so a call that throws may have stored the others. Storing an
    /// outcome once more with the same attempt changes nothing.
    ///
    /// - Returns: the notifications that were claimed again in the meantime. The later claim owns what follows.
    @discardableResult
    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID>
}

extension DispatchStore {
    /// Claims notifications of deliveries that do not own the first attempt.
    package func claim(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        try await claim(ids, first: [], now: now)
    }
}

/// Receives deliveries from the broker.
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

    /// The same for deliveries that do no harm if they come again, because their outcome is stored and no message
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

/// Publishes to the broker.
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
package protocol DispatchGauge: Sendable {
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

    /// Makes a dead letter.
    package init(tag: UInt64, message: DispatchMessage?, reason: String, byteCount: Int) {
        self.tag = tag
        self.message = message
        self.reason = reason
        self.byteCount = byteCount
    }
}

/// The store as an operator uses it for the notifications in the dead-letter queue.
package protocol DeadLetterStore: Sendable {
    /// The records of notifications of any sender. An unknown ID is absent.
    func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord]

    /// Makes dead platforms pending again, as ``NotificationRecord/reopening(_:now:)`` decides: the notification
    /// becomes queued, its attempt is incremented so that an earlier outcome cannot overwrite it, and the outbox gets a
    /// published entry that is due ``OutboxPolicy/redelivery`` after `now`.
    ///
    /// Call it before the message is published. Repeating it is harmless.
    ///
    /// - Parameter letters: the platforms that each notification's dead letter names; empty if it names none.
    /// - Returns: the decision for each; an unknown ID is absent.
    func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: ReplayDecision]
}
