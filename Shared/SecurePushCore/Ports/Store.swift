/// Everything that a store does. Each service depends only on the ports that it needs.
package protocol Store: NotificationWriter, NotificationReader, DispatchStore, DeviceStore, RefreshTokenStore,
    OperatorStore, SenderNotifications
{
    /// Returns if the store can be written to within `timeout`.
    ///
    /// - Throws: ``StorageError`` if not.
    func ping(timeout: Duration) async throws
}
