import CRabbitMQ

extension Handle {
    /// Takes one message (`basic.get`), or `nil` when the queue is empty. Blocks, `replyTimeout` at most for each
    /// frame.
    ///
    /// The frames are read one after another and not by `amqp_read_message`, which holds a body of any length.
    func get(queue: String, replyTimeout: Duration) throws(AMQPError) -> AMQPDelivery? {
        defer {
            arena.reset()
            amqp_maybe_release_buffers(state)
        }
        let reply = amqp_basic_get(state, Handle.channel, arena.bytes(queue), 0)
        if let error = AMQPError(reply, doing: "getting from queue \(queue)") { throw error }
        guard reply.reply.id != CRabbitMQBasicGetEmpty, let decoded = reply.reply.decoded else { return nil }
        let answer = decoded.assumingMemoryBound(to: amqp_basic_get_ok_t.self).pointee
        content = IncomingContent(
            kind: .delivery(tag: answer.delivery_tag, isRedelivered: answer.redelivered != 0),
            message: AMQPMessage(exchange: String(answer.exchange), routingKey: String(answer.routing_key), body: []))
        var frame = amqp_frame_t()
        while true {
            var timeout = timeval(replyTimeout)
            try check(amqp_simple_wait_frame_noblock(state, &frame, &timeout), "reading a message")
            let event = event(of: &frame)
            amqp_maybe_release_buffers(state)
            switch event {
            case .delivered(let delivery): return delivery
            case .closed(let error): throw error
            default: continue
            }
        }
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
