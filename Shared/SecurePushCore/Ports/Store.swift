/// Everything that a store does; each service depends only on the ports that it needs.
public protocol Store: NotificationWriter, IdempotentWriter, SenderNotifications, Outbox, DispatchStore,
    PayloadReader, Inbox, RegistrationStore, InstallationStore, DeviceLeases, RegisteredPlatforms, Retention,
    DeadLetterLedger, PayloadKeyUse
{
    /// Answers when the store can be written to within `timeout`; throws ``StorageError`` otherwise.
    func ping(timeout: Duration) async throws
}
