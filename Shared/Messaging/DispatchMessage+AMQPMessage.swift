import AMQP
import Domain
import Foundations

extension AMQPMessage {
    /// The message that carries a notification's ID through the broker, without its payload or recipient.
    init(_ message: DispatchMessage, route: DispatchRoute, topology: DispatchTopology) {
        let id = message.id.description
        let (exchange, key, reason) = topology.address(of: route)
        self.init(
            exchange: exchange, routingKey: key, body: Array(id.utf8), contentType: "text/plain", messageID: id,
            headers: AMQPTable(message, reason: reason, isFirst: message.isFirst && route == .dispatch))
    }
}

extension AMQPTable {
    /// - Parameter isFirst: whether the header `first` is set. A retry or a dead letter never has it.
    fileprivate init(_ message: DispatchMessage, reason: String?, isFirst: Bool) {
        self.init()
        // Notifications that an earlier version stored have none; neither have messages from other publishers.
        let traceparent = message.traceparent ?? TraceContext.random().traceparent
        entries.append(Entry("traceparent", .string(traceparent)))
        if let platforms = message.platforms {
            entries.append(Entry("platforms", .string(platforms.map(\.rawValue).joined(separator: ","))))
        }
        if let attempt = message.attempt { entries.append(Entry("attempt", .integer(Int64(attempt)))) }
        if let kind = message.kind { entries.append(Entry("kind", .string(kind.rawValue))) }
        if let reason { entries.append(Entry("reason", .string(reason))) }
        if isFirst { entries.append(Entry("first", true)) }
    }
}

extension AMQPTable {
    /// A message that the broker has dead-lettered and somebody has moved back is not the first one any more.
    fileprivate var isFirst: Bool { self["first"] == true && self["x-death"] == nil && self["reason"] == nil }
}

extension DispatchTopology {
    /// Retry queues are addressed by name, through the default exchange.
    func address(of route: DispatchRoute) -> (exchange: String, key: String, reason: String?) {
        switch route {
        case .dispatch: return (exchange, DispatchTopology.dispatchKey, nil)
        case .retry(let index):
            let index = min(max(0, index), retryDelays.count - 1)
            return ("", retryQueue(delay: retryDelays[index]), nil)
        case .dead(let reason): return (deadExchange, "", reason)
        }
    }
}

/// Why a message of the dispatch queue cannot be read. SecurePush publishes no such messages.
enum UnreadableMessage: Error, Hashable, CustomStringConvertible {
    /// The body exceeds ``DispatchMessage/maxBodyBytes`` and was not kept.
    case body(bytes: UInt64)
    /// Properties and headers exceed ``DispatchMessage/maxHeaderBytes`` and were not read.
    case headers(bytes: Int)
    /// The body is not a notification ID.
    case notAnID
    /// The header `attempt` is outside ``DispatchMessage/attempts``.
    case attempt
    /// The header `kind` names no work that this version knows.
    case kind

    /// The `reason` of its dead letter.
    var description: String {
        switch self {
        case .body(let bytes):
            "unreadable: the body has \(bytes) bytes; the limit is \(DispatchMessage.maxBodyBytes)"
        case .headers(let bytes):
            "unreadable: the headers have \(bytes) bytes; the limit is \(DispatchMessage.maxHeaderBytes)"
        case .notAnID: "unreadable: the body is not a notification ID"
        case .attempt:
            "unreadable: the attempt is not a number from \(DispatchMessage.attempts.lowerBound) to "
                + "\(DispatchMessage.attempts.upperBound)"
        case .kind: "unreadable: the header kind is not one of those that this version knows"
        }
    }
}

extension DispatchMessage {
    /// Reads a delivery from a connection with these ``limits``.
    init(_ delivery: AMQPDelivery) throws(UnreadableMessage) {
        guard delivery.bodyBytes <= UInt64(Self.maxBodyBytes) else { throw .body(bytes: delivery.bodyBytes) }
        guard delivery.headerBytes <= Self.maxHeaderBytes else { throw .headers(bytes: delivery.headerBytes) }
        try self.init(delivery.message)
    }

    /// Reads a message, even one that another publisher sent without properties.
    init(_ message: AMQPMessage) throws(UnreadableMessage) {
        guard let id = NotificationID(utf8: message.body) else { throw .notAnID }
        let platforms = message.headers["platforms"]?.string?.split(separator: ",")
            .map { Platform(rawValue: String($0)) }
        self.init(
            id: id, platforms: platforms?.isEmpty == true ? nil : platforms,
            attempt: try message.headers["attempt"].map { value throws(UnreadableMessage) in try Self.attempt(value) },
            traceparent: message.headers["traceparent"]?.string,
            kind: try message.headers["kind"].map { value throws(UnreadableMessage) in try Self.kind(value) },
            isFirst: message.headers.isFirst)
    }

    /// Accepts a number or a string of digits: some clients can send only string headers.
    private static func attempt(_ value: AMQPValue) throws(UnreadableMessage) -> Int {
        let number = value.integer ?? value.string.flatMap { Int64($0) }
        guard let attempt = number.flatMap({ Int(exactly: $0) }), attempts.contains(attempt) else { throw .attempt }
        return attempt
    }

    private static func kind(_ value: AMQPValue) throws(UnreadableMessage) -> FollowUp.Kind {
        guard let kind = value.string.flatMap(FollowUp.Kind.init(rawValue:)) else { throw .kind }
        return kind
    }

    /// How much of a message a connection holds.
    static let limits = AMQPReceiveLimits(maxBodyBytes: maxBodyBytes, maxHeaderBytes: maxHeaderBytes)
}
