/// The dispatcher's record: what is to be sent, and what became of it.
public protocol DispatchStore: Sendable {
    /// Claims notifications in one statement: counts up the attempt of each, notes the time, and returns its plan. What
    /// was accepted is queued then; a status that was reached is not taken back.
    /// An ID that the store does not know, or that appears twice, is absent, or there once.
    ///
    /// A row that holds what this program cannot read is told by its ID and keeps no other from being claimed.
    ///
    /// - Throws: ``StorageError`` when the statement as a whole failed. Repeating it counts the attempts up again, so
    ///   it is to be repeated only where ``StorageError/isRetriable``.
    func claim(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims

    /// Takes notifications out of the outbox whose rows cannot be read, once a dead letter stands for them: otherwise
    /// their IDs would be published, and dead-lettered, again and again. Their rows stay as they are.
    func abandon(_ ids: [NotificationID]) async throws

    /// Stores outcomes in one statement, each only where its attempt is still the newest; the outbox with it: the entry
    /// of what is final goes (``DispatchOutcome/isFinal``), what is to be tried again is published and falls due
    /// ``OutboxPolicy/redelivery`` after its next try.
    ///
    /// - Returns: the notifications of which a later claim was made; what follows is for whoever made it to do.
    @discardableResult
    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID>
}
