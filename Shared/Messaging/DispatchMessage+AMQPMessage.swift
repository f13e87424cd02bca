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
        // Notifications that an earlier version stored have none, nor do messages that others published.
        let traceparent = message.traceparent ?? TraceContext.random().traceparent
        entries.append(Entry("traceparent", .string(traceparent)))
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

/// Why a message of the dispatch queue cannot be read. None of these is one of ours.
enum UnreadableMessage: Error, Hashable, CustomStringConvertible {
    /// The body has more bytes than ``DispatchMessage/maxBodyBytes``, and was not held.
    case body(bytes: UInt64)
    /// Properties and headers have more bytes than ``DispatchMessage/maxHeaderBytes``, and were not read.
    case headers(bytes: Int)
    /// The body is not exactly an ID.
    case noID
    /// The header `attempt` is none of ``DispatchMessage/attempts``.
    case attempt

    /// The `reason` of its dead letter.
    var description: String {
        switch self {
        case .body(let bytes): "unreadable: a body of \(bytes) bytes, at most \(DispatchMessage.maxBodyBytes) are read"
        case .headers(let bytes):
            "unreadable: headers of \(bytes) bytes, at most \(DispatchMessage.maxHeaderBytes) are read"
        case .noID: "unreadable: the body is no notification ID"
        case .attempt:
            "unreadable: the attempt is not a number from \(DispatchMessage.attempts.lowerBound) to "
                + "\(DispatchMessage.attempts.upperBound)"
        }
    }
}

extension DispatchMessage {
    /// Reads a delivery of a connection with these ``limits``.
    init(_ delivery: AMQPDelivery) throws(UnreadableMessage) {
        guard delivery.bodyBytes <= UInt64(Self.maxBodyBytes) else { throw .body(bytes: delivery.bodyBytes) }
        guard delivery.headerBytes <= Self.maxHeaderBytes else { throw .headers(bytes: delivery.headerBytes) }
        try self.init(delivery.message)
    }

    /// Reads a message, also one that others published without properties.
    init(_ message: AMQPMessage) throws(UnreadableMessage) {
        guard let id = NotificationID(utf8: message.body) else { throw .noID }
        let platforms = message.headers["platforms"]?.string?.split(separator: ",")
            .map { Platform(rawValue: String($0)) }
        self.init(
            id: id, platforms: platforms?.isEmpty == true ? nil : platforms,
            attempt: try message.headers["attempt"].map { value throws(UnreadableMessage) in try Self.attempt(value) },
            traceparent: message.headers["traceparent"]?.string)
    }

    /// A number, or a text of digits: some clients send no other headers.
    private static func attempt(_ value: AMQPValue) throws(UnreadableMessage) -> Int {
        let number = value.integer ?? value.string.flatMap { Int64($0) }
        guard let attempt = number.flatMap({ Int(exactly: $0) }), attempts.contains(attempt) else { throw .attempt }
        return attempt
    }

    /// How much of a message is held.
    static let limits = AMQPReceiveLimits(maxBodyBytes: maxBodyBytes, maxHeaderBytes: maxHeaderBytes)
}
