/// Everything that a store does; each service depends only on the ports that it needs.
public protocol Store: NotificationWriter, Outbox, DispatchLedger, PayloadReader, RegistrationStore {
    /// Answers when the store can be written to within `timeout`; throws ``StorageError`` otherwise.
    func ping(timeout: Duration) async throws
}
