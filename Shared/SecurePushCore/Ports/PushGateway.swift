/// Sends native notifications through the hub.
public protocol PushGateway: Sendable {
    /// Sends one notification and calls back exactly once, on any thread, within the gateway's deadline.
    ///
    /// A callback and not `async`, because three sends a notification are the hottest path of all and a task a send
    /// costs more than the send. The callback must not block. A gateway never retries: the dispatcher owns retries.
    func send(_ notification: HubNotification, completion: @escaping @Sendable (SendOutcome) -> Void)

    /// Begins to end, and returns at once: a later send is answered ``SendOutcome/notSent(reason:)``, and every request
    /// in flight is answered at its own deadline or after `duration`, whichever comes first. Calling it again changes
    /// nothing, unless the duration ends earlier.
    func stop(within duration: Duration)
}
