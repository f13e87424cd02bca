import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Calls that write frames and wait for no reply. They block while the socket accepts no more: see ``isWritable``.
extension Handle {
    /// Writes `basic.publish` as mandatory: a message that no queue accepts is returned.
    func publish(_ message: AMQPMessage) throws(AMQPError) {
        defer { arena.reset() }
        var properties = properties(of: message)
        let (exchange, key) = (arena.bytes(message.exchange), arena.bytes(message.routingKey))
        let status = message.body.withUnsafeBytes { body in
            let body = amqp_bytes_t(len: body.count, bytes: UnsafeMutableRawPointer(mutating: body.baseAddress))
            return amqp_basic_publish(state, Handle.channel, exchange, key, 1, 0, &properties, body)
        }
        try check(status, "publishing")
    }

    private func properties(of message: AMQPMessage) -> amqp_basic_properties_t {
        var properties = amqp_basic_properties_t()
        properties._flags = CRabbitMQDeliveryModeFlag
        properties.delivery_mode = message.isPersistent ? 2 : 1
        if let contentType = message.contentType {
            properties._flags |= CRabbitMQContentTypeFlag
            properties.content_type = arena.bytes(contentType)
        }
        if let messageID = message.messageID {
            properties._flags |= CRabbitMQMessageIDFlag
            properties.message_id = arena.bytes(messageID)
        }
        if let expiration = message.expiration {
            properties._flags |= CRabbitMQExpirationFlag
            properties.expiration = arena.bytes(String(expiration))
        }
        if !message.headers.isEmpty {
            properties._flags |= CRabbitMQHeadersFlag
            properties.headers = arena.table(message.headers)
        }
        return properties
    }

    /// Writes `basic.ack`.
    func acknowledge(_ tag: UInt64, isMultiple: Bool) throws(AMQPError) {
        try check(amqp_basic_ack(state, Handle.channel, tag, isMultiple ? 1 : 0), "acknowledging")
    }

    /// Writes `basic.nack` with requeue.
    func requeue(_ tag: UInt64) throws(AMQPError) {
        try check(amqp_basic_nack(state, Handle.channel, tag, 0, 1), "requeueing")
    }

    /// Writes `basic.nack` without requeue: the message goes to the queue's dead-letter exchange, if it has one.
    func reject(_ tag: UInt64) throws(AMQPError) {
        try check(amqp_basic_nack(state, Handle.channel, tag, 0, 0), "rejecting")
    }

    /// Whether the socket accepts a group of frames without blocking: on Linux, while a third of its buffer is free.
    var isWritable: Bool {
        var descriptor = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&descriptor, 1, 0) == 1 && Int32(descriptor.revents) & POLLOUT != 0
    }

    /// Sends everything that `body` writes in as few packets as possible.
    func corked(_ body: () throws(AMQPError) -> Void) throws(AMQPError) {
        cork(true)
        defer { cork(false) }
        try body()
    }

    private func cork(_ isCorked: Bool) {
        // TLS makes one record per frame; corking still packs the records together.
        var value: Int32 = isCorked ? 1 : 0
        #if canImport(Glibc)
        let option = TCP_CORK
        #else
        let option = TCP_NOPUSH
        #endif
        setsockopt(descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
