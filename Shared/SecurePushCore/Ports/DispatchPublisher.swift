/// Publishes to the broker.
public protocol DispatchPublisher: Sendable {
    /// Publishes messages, each to its own route, all in one go, and waits for the broker's answer to each.
    ///
    /// - Returns: one result for each message, in their order: success once the broker has confirmed it, or why not
    ///   (returned as unroutable, nacked, not confirmed in time, not connected). What failed may yet have been queued.
    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>]

    /// Whether a publish can be expected to succeed now.
    var isConnected: Bool { get }
}

extension DispatchPublisher {
    /// Publishes messages to one route.
    ///
    /// - Returns: as ``publish(_:)``.
    public func publish(
        _ messages: [DispatchMessage], to route: DispatchRoute
    ) async -> [Result<Void, MessagingError>] {
        await publish(messages.map { (message: $0, route: route) })
    }
}
