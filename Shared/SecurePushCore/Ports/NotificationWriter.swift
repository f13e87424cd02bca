/// Takes accepted notifications into the store.
public protocol NotificationWriter: Sendable {
    /// Makes notifications durable together with their outbox entries, all or none of them, in one transaction that may
    /// be shared with other callers' (group commit). Returns once that transaction is on disk.
    ///
    /// - Throws: ``StorageError``; nothing is stored then, unless its code is `connectionLost`, where the outcome of
    ///   the commit is unknown and a repeat with the same IDs is safe (it changes nothing that is there).
    func append(_ notifications: [SealedNotification]) async throws
}
