/// Takes accepted notifications into the store at most once for each `Idempotency-Key`.
public protocol IdempotentWriter: Sendable {
    /// Makes notifications durable like ``NotificationWriter/append(_:)``, and in the same transaction the key with the
    /// answer to be repeated, unless the key is there already and has not expired at `now`: then nothing is stored.
    ///
    /// Holds across processes: of two that come at the same time the second waits for the first one's transaction. One
    /// transaction and not a reservation first, so that a process that dies leaves no key behind that is neither done
    /// nor free.
    ///
    /// - Returns: `nil` once everything is on disk, or the earlier request that has the key.
    /// - Throws: ``StorageError``, as ``NotificationWriter/append(_:)``.
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest?

    /// The request that has this key and has not expired at `now`.
    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest?
}
