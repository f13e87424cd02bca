/// The dead-letter queue, as an operator goes through it.
///
/// Letters are taken one after another and held: nobody else gets them, and they stay in the broker. What is not
/// removed is back in its place, in its order, once the queue is closed.
public protocol DeadLetterQueue: Sendable {
    /// How many letters wait, without those that are held.
    func count() async throws -> Int

    /// The next letter, to be held; `nil` when there is none left.
    func next() async throws -> DeadLetter?

    /// Removes a letter that is held.
    func remove(_ letter: DeadLetter) async throws

    /// Removes all letters that nobody holds, and tells how many there were.
    func purge() async throws -> Int

    /// Gives back what is held, and ends the connection.
    func close() async
}

/// The operator's side of the store, for notifications in the dead-letter queue.
public protocol DeadLetterLedger: Sendable {
    /// What is on record of notifications, whoever sent them; an unknown ID is absent.
    func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord]

    /// Makes what was given up owed again, as ``NotificationRecord/reopening(_:now:)`` decides: the notification is
    /// queued, the attempt is counted up, so that an outcome of before does not write over it, and the outbox has a
    /// published entry, due ``OutboxPolicy/redelivery`` from `now`.
    ///
    /// To be called before the message is published; repeating it changes nothing that matters.
    ///
    /// - Parameter letters: the platforms that each notification's letter names; empty where it names none.
    /// - Returns: what came of each; an unknown ID is absent.
    func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: ReplayDecision]
}
