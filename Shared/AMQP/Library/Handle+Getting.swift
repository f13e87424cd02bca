import CRabbitMQ

extension Handle {
    /// Takes one message (`basic.get`), or `nil` when the queue is empty. Blocks, `replyTimeout` at most.
    func get(queue: String) throws(AMQPError) -> AMQPDelivery? {
        defer {
            arena.reset()
            amqp_maybe_release_buffers(state)
        }
        let reply = amqp_basic_get(state, Handle.channel, arena.bytes(queue), 0)
        if let error = AMQPError(reply, doing: "getting from queue \(queue)") { throw error }
        guard reply.reply.id != CRabbitMQBasicGetEmpty, let decoded = reply.reply.decoded else { return nil }
        let answer = decoded.assumingMemoryBound(to: amqp_basic_get_ok_t.self).pointee
        var delivery = AMQPDelivery(
            tag: answer.delivery_tag, epoch: 0, isRedelivered: answer.redelivered != 0,
            message: AMQPMessage(exchange: String(answer.exchange), routingKey: String(answer.routing_key), body: []))
        var message = amqp_message_t()
        let read = amqp_read_message(state, Handle.channel, &message, 0)
        if let error = AMQPError(read, doing: "reading a message") { throw error }
        defer { amqp_destroy_message(&message) }
        delivery.message.read(message.properties, names: &names)
        delivery.message.body = Array(UnsafeRawBufferPointer(message.body))
        return delivery
    }

    /// Opens the channel again that the broker closed over an error.
    func reopenChannel() throws(AMQPError) {
        var ok = amqp_channel_close_ok_t()
        try check(
            amqp_send_method(state, Handle.channel, CRabbitMQChannelCloseOK, &ok), "answering a channel's close")
        _ = amqp_channel_open(state, Handle.channel)
        try check("opening a channel")
    }
}
