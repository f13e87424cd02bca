import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A message from the broker that is not the reply to a request.
enum BrokerEvent: Sendable {
    /// `basic.ack` or `basic.nack` of a published message, and of all before it when `isMultiple`.
    case confirmed(tag: UInt64, isMultiple: Bool, isRefusal: Bool)
    /// `basic.return`: no queue accepted the message. The confirm that follows must not count as a success.
    case returned(AMQPMessage, reason: String)
    case delivered(AMQPDelivery)
    /// `basic.cancel`: the queue was deleted, or moved.
    case consumerCancelled
    case blocked(reason: String)
    case unblocked
    /// The broker closed the channel or the connection.
    case closed(AMQPError)
}

/// A message whose content frames are arriving.
struct IncomingContent {
    enum Kind {
        case delivery(tag: UInt64, isRedelivered: Bool)
        case returned(reason: String)
    }

    var kind: Kind
    var message: AMQPMessage
    /// Bytes of the body that have not arrived; `nil` before the header.
    var missing: UInt64?
    var bodyBytes: UInt64 = 0
    var headerBytes = 0
    /// Whether the body exceeds the limit, so that it is not held.
    var isDropped = false
}

extension Handle {
    /// Calls `body` with each event that has arrived, at most ``maxEvents``.
    ///
    /// - Returns: whether there may be more: the socket does not become readable for frames that librabbitmq holds.
    func readEvents(_ body: (BrokerEvent) throws(AMQPError) -> Void) throws(AMQPError) -> Bool {
        for _ in 0..<Handle.maxEvents {
            guard let event = try nextEvent() else { return false }
            try body(event)
        }
        return true
    }

    /// Events read before waiting frames are written.
    private static let maxEvents = 1024

    /// The next event from the broker; `nil` if no more have arrived. Never blocks. Only this method sends and checks
    /// heartbeats.
    func nextEvent() throws(AMQPError) -> BrokerEvent? {
        var frame = amqp_frame_t()
        var noTime = timeval()
        while true {
            let status = amqp_simple_wait_frame_noblock(state, &frame, &noTime)
            if status == AMQP_STATUS_TIMEOUT.rawValue {
                amqp_maybe_release_buffers(state)
                return nil
            }
            try check(status, "reading")
            let event = event(of: &frame)
            amqp_maybe_release_buffers(state)
            if let event { return event }
        }
    }

    func event(of frame: inout amqp_frame_t) -> BrokerEvent? {
        switch Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD: return event(of: &frame.payload.method)
        case AMQP_FRAME_HEADER:
            let properties = frame.payload.properties
            return header(properties.decoded, length: properties.raw.len, bodySize: properties.body_size)
        case AMQP_FRAME_BODY: return body(UnsafeRawBufferPointer(frame.payload.body_fragment))
        default: return nil
        }
    }

    private func event(of method: inout amqp_method_t) -> BrokerEvent? {
        guard let decoded = method.decoded else { return nil }
        switch method.id {
        case CRabbitMQBasicAck:
            let ack = decoded.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
            return .confirmed(tag: ack.delivery_tag, isMultiple: ack.multiple != 0, isRefusal: false)
        case CRabbitMQBasicNack:
            let nack = decoded.assumingMemoryBound(to: amqp_basic_nack_t.self).pointee
            return .confirmed(tag: nack.delivery_tag, isMultiple: nack.multiple != 0, isRefusal: true)
        case CRabbitMQBasicDeliver: begin(decoded.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee)
        case CRabbitMQBasicReturn: begin(decoded.assumingMemoryBound(to: amqp_basic_return_t.self).pointee)
        case CRabbitMQBasicCancel: return .consumerCancelled
        case CRabbitMQConnectionBlocked:
            let blocked = decoded.assumingMemoryBound(to: amqp_connection_blocked_t.self).pointee
            return .blocked(reason: String(blocked.reason))
        case CRabbitMQConnectionUnblocked: return .unblocked
        case CRabbitMQChannelClose, CRabbitMQConnectionClose:
            return .closed(AMQPError(closing: &method, doing: "the broker closed the connection"))
        default: break
        }
        return nil
    }

    private func begin(_ deliver: amqp_basic_deliver_t) {
        let (exchange, key) = (names.string(deliver.exchange), names.string(deliver.routing_key))
        content = IncomingContent(
            kind: .delivery(tag: deliver.delivery_tag, isRedelivered: deliver.redelivered != 0),
            message: AMQPMessage(exchange: exchange, routingKey: key, body: []))
    }

    private func begin(_ returned: amqp_basic_return_t) {
        let (exchange, key) = (names.string(returned.exchange), names.string(returned.routing_key))
        content = IncomingContent(
            kind: .returned(reason: "\(names.string(returned.reply_text)) (\(returned.reply_code))"),
            message: AMQPMessage(exchange: exchange, routingKey: key, body: []))
    }

    /// Reads a content header. Nothing longer than ``limits`` is kept.
    private func header(_ decoded: UnsafeMutableRawPointer?, length: Int, bodySize: UInt64) -> BrokerEvent? {
        guard content != nil, let decoded else { return nil }
        if length <= limits.maxHeaderBytes {
            let properties = decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee
            content?.message.read(properties, names: &names)
        }
        content?.headerBytes = length
        content?.bodyBytes = bodySize
        content?.missing = bodySize
        if bodySize > UInt64(max(0, limits.maxBodyBytes)) {
            content?.isDropped = true
        } else {
            content?.message.body.reserveCapacity(Int(min(bodySize, 1 << 20)))
        }
        return bodySize == 0 ? finish() : nil
    }

    private func body(_ bytes: UnsafeRawBufferPointer) -> BrokerEvent? {
        guard let missing = content?.missing else { return nil }
        // At most as much as the header announced, so that the limit holds for any frames.
        let count = Int(min(missing, UInt64(bytes.count)))
        if content?.isDropped == false { content?.message.body.append(contentsOf: bytes.prefix(count)) }
        content?.missing = missing - UInt64(count)
        return content?.missing == 0 ? finish() : nil
    }

    private func finish() -> BrokerEvent? {
        defer { content = nil }
        switch content?.kind {
        case .delivery(let tag, let isRedelivered):
            guard let content else { return nil }
            return .delivered(
                AMQPDelivery(
                    tag: tag, epoch: 0, isRedelivered: isRedelivered, message: content.message,
                    bodyBytes: content.bodyBytes, headerBytes: content.headerBytes))
        case .returned(let reason):
            guard let message = content?.message else { return nil }
            return .returned(message, reason: reason)
        case nil: return nil
        }
    }
}

extension AMQPMessage {
    mutating func read(_ properties: amqp_basic_properties_t, names: inout RepeatedStrings) {
        let flags = properties._flags
        if flags & CRabbitMQContentTypeFlag != 0 { contentType = names.string(properties.content_type) }
        if flags & CRabbitMQMessageIDFlag != 0 { messageID = String(properties.message_id) }
        if flags & CRabbitMQHeadersFlag != 0 { headers = AMQPTable(properties.headers) }
        if flags & CRabbitMQExpirationFlag != 0 { expiration = UInt64(String(properties.expiration)) }
        isPersistent = flags & CRabbitMQDeliveryModeFlag != 0 && properties.delivery_mode == 2
    }
}

/// A cache of strings that repeat in every message (exchange, routing key, content type), so that each is made once.
struct RepeatedStrings {
    private var known: [String] = []
    private var next = 0

    mutating func string(_ bytes: amqp_bytes_t) -> String {
        let bytes = UnsafeRawBufferPointer(bytes)
        guard let start = bytes.baseAddress, bytes.count > 0 else { return "" }
        for candidate in known where candidate.utf8.count == bytes.count {
            let isSame = candidate.utf8.withContiguousStorageIfAvailable { utf8 in
                utf8.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false
            }
            if isSame == true { return candidate }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if known.count < 8 { known.append(text) } else { known[next] = text }
        next = (next + 1) & 7
        return text
    }
}
