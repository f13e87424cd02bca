/// The dispatcher's record: what is to be sent, and what became of it.
public protocol DispatchLedger: Sendable {
    /// Claims notifications in one statement: counts up the attempt of each, sets it `queued`, and returns its plan.
    /// An ID that the store does not know, or that appears twice, is absent, or there once.
    func claim(_ ids: [NotificationID], now: Timestamp) async throws -> [NotificationID: DispatchPlan]

    /// Stores outcomes in one statement, each only where its attempt is still the newest.
    func record(_ outcomes: [DispatchOutcome]) async throws
}
