import AMQP
import SecurePushCore

extension AMQPMessage {
    /// A notification's ID as it travels through the broker, with nothing of its payload or recipient.
    init(_ message: DispatchMessage, route: DispatchRoute, topology: DispatchTopology) {
        let id = message.id.description
        let (exchange, key, reason) = topology.address(of: route)
        self.init(
            exchange: exchange, routingKey: key, body: Array(id.utf8), contentType: "text/plain", messageID: id,
            headers: AMQPTable(message, reason: reason))
    }
}

extension AMQPTable {
    fileprivate init(_ message: DispatchMessage, reason: String?) {
        self.init()
        if let traceparent = message.traceparent { entries.append(Entry("traceparent", .string(traceparent))) }
        if let platforms = message.platforms {
            entries.append(Entry("platforms", .string(platforms.map(\.rawValue).joined(separator: ","))))
        }
        if let attempt = message.attempt { entries.append(Entry("attempt", .integer(Int64(attempt)))) }
        if let reason { entries.append(Entry("reason", .string(reason))) }
    }
}

extension DispatchTopology {
    /// Retry queues are written to by name, through the default exchange.
    fileprivate func address(of route: DispatchRoute) -> (exchange: String, key: String, reason: String?) {
        switch route {
        case .dispatch: return (exchange, DispatchTopology.dispatchKey, nil)
        case .retry(let index):
            let index = min(max(0, index), retryDelays.count - 1)
            return ("", retryQueue(delay: retryDelays[index]), nil)
        case .dead(let reason): return (deadExchange, "", reason)
        }
    }
}

extension DispatchMessage {
    /// Reads a message, also one that others published without properties; `nil` unless the body is exactly an ID.
    init?(_ message: AMQPMessage) {
        guard let id = NotificationID(utf8: message.body) else { return nil }
        let platforms = message.headers["platforms"]?.string?.split(separator: ",")
            .map { Platform(rawValue: String($0)) }
        let attempt = message.headers["attempt"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
        self.init(
            id: id, platforms: platforms?.isEmpty == true ? nil : platforms,
            attempt: attempt.flatMap { $0 > 0 ? Int(exactly: $0) : nil },
            traceparent: message.headers["traceparent"]?.string)
    }
}
