/// The dispatcher's record: what is to be sent, and what became of it.
public protocol DispatchLedger: Sendable {
    /// Claims notifications in one statement: counts up the attempt of each, notes the time, and returns its plan. What
    /// was accepted is queued then; a status that was reached is not taken back.
    /// An ID that the store does not know, or that appears twice, is absent, or there once.
    func claim(_ ids: [NotificationID], now: Timestamp) async throws -> [NotificationID: DispatchPlan]

    /// Stores outcomes in one statement, each only where its attempt is still the newest; the outbox with it: the entry
    /// of what is final goes (``DispatchOutcome/isFinal``), what is to be tried again is published and falls due
    /// ``OutboxPolicy/redelivery`` after its next try.
    ///
    /// - Returns: the notifications of which a later claim was made; what follows is for whoever made it to do.
    @discardableResult
    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID>
}
