import CRabbitMQ

/// Calls that wait for the broker's reply. They block for at most `replyTimeout`, after which the connection is
/// unusable.
extension Handle {
    func declare(_ topology: AMQPTopology) throws(AMQPError) {
        guard topology.isDeclared else { return try expect(topology) }
        for exchange in topology.exchanges { try declare(exchange) }
        for queue in topology.queues { try declare(queue) }
        for binding in topology.bindings { try bind(binding) }
    }

    private func expect(_ topology: AMQPTopology) throws(AMQPError) {
        for exchange in topology.exchanges { try declare(exchange, isPassive: true) }
        for queue in topology.queues { _ = try inspect(queue: queue.name) }
    }

    private func declare(_ exchange: AMQPTopology.Exchange, isPassive: Bool = false) throws(AMQPError) {
        defer { arena.reset() }
        _ = amqp_exchange_declare(
            state, Handle.channel, arena.bytes(exchange.name), arena.bytes(exchange.kind.rawValue),
            isPassive ? 1 : 0, 1, 0, 0, amqp_empty_table)
        try check(isPassive ? "looking up exchange \(exchange.name)" : "declaring exchange \(exchange.name)")
    }

    private func declare(_ queue: AMQPTopology.Queue) throws(AMQPError) {
        defer { arena.reset() }
        let arguments = arena.table(queue.arguments)
        _ = amqp_queue_declare(state, Handle.channel, arena.bytes(queue.name), 0, 1, 0, 0, arguments)
        try checkQueue("declaring queue \(queue.name)")
    }

    private func bind(_ binding: AMQPTopology.Binding) throws(AMQPError) {
        defer { arena.reset() }
        let (queue, exchange) = (arena.bytes(binding.queue), arena.bytes(binding.exchange))
        _ = amqp_queue_bind(state, Handle.channel, queue, exchange, arena.bytes(binding.key), amqp_empty_table)
        try checkQueue("binding queue \(binding.queue) to \(binding.exchange)")
    }

    func unbind(_ binding: AMQPTopology.Binding) throws(AMQPError) {
        defer { arena.reset() }
        let (queue, exchange) = (arena.bytes(binding.queue), arena.bytes(binding.exchange))
        _ = amqp_queue_unbind(state, Handle.channel, queue, exchange, arena.bytes(binding.key), amqp_empty_table)
        try checkQueue("unbinding queue \(binding.queue) from \(binding.exchange)")
    }

    /// Asks for a queue without changing anything (`queue.declare` with passive).
    func inspect(queue: String) throws(AMQPError) -> AMQPQueueStatus {
        defer { arena.reset() }
        let answer = amqp_queue_declare(state, Handle.channel, arena.bytes(queue), 1, 0, 0, 0, amqp_empty_table)
        try checkQueue("looking up queue \(queue)")
        return AMQPQueueStatus(
            messages: Int(answer?.pointee.message_count ?? 0), consumers: Int(answer?.pointee.consumer_count ?? 0))
    }

    func delete(queue: String) throws(AMQPError) {
        defer { arena.reset() }
        _ = amqp_queue_delete(state, Handle.channel, arena.bytes(queue), 0, 0)
        try checkQueue("deleting queue \(queue)")
    }

    func delete(exchange: String) throws(AMQPError) {
        defer { arena.reset() }
        _ = amqp_exchange_delete(state, Handle.channel, arena.bytes(exchange), 0)
        try check("deleting exchange \(exchange)")
    }

    /// - Returns: how many messages were dropped.
    func purge(queue: String) throws(AMQPError) -> Int {
        defer { arena.reset() }
        let answer = amqp_queue_purge(state, Handle.channel, arena.bytes(queue))
        try checkQueue("purging queue \(queue)")
        return Int(answer?.pointee.message_count ?? 0)
    }

    func selectConfirms() throws(AMQPError) {
        _ = amqp_confirm_select(state, Handle.channel)
        try check("asking for publisher confirms")
    }

    func consume(queue: String, prefetch: Int, tag: String) throws(AMQPError) {
        defer { arena.reset() }
        _ = amqp_basic_qos(state, Handle.channel, 0, UInt16(clamping: prefetch), 0)
        try check("setting the prefetch")
        _ = amqp_basic_consume(
            state, Handle.channel, arena.bytes(queue), arena.bytes(tag), 0, 0, 0, amqp_empty_table)
        try checkQueue("consuming queue \(queue)")
    }

    /// Throws ``AMQPError/Code/queueUnavailable`` if a quorum queue has no leader within `replyTimeout`.
    ///
    /// A declaration shows nothing: RabbitMQ answers it from the local member, with 0 messages. Consuming needs a
    /// decision of the leader. This consumer has no credit (`x-credit`), so it gets no messages. RabbitMQ answers
    /// `basic.consume` before the decision, and later requests only after it.
    ///
    /// RabbitMQ 4 does not know that argument. It would deliver the first message, which would be requeued, and each
    /// such check would count towards the delivery limit, which dead-letters it. So with RabbitMQ 4 a queue that
    /// reports messages counts as having a leader, because only a leader counts them.
    func expectLeader(of queue: String) throws(AMQPError) {
        defer { arena.reset() }
        if !hasCredit, try inspect(queue: queue).messages > 0 { return }
        let tag = "securepush.leader"
        let arguments = arena.table(["x-credit": .table(["credit": 0, "drain": false])])
        _ = amqp_basic_qos(state, Handle.channel, 0, 1, 0)
        try check("setting the prefetch")
        _ = amqp_basic_consume(
            state, Handle.channel, arena.bytes(queue), arena.bytes(tag), 0, 0, 0, arguments)
        try checkQueue("asking for the leader of queue \(queue)")
        _ = amqp_basic_cancel(state, Handle.channel, arena.bytes(tag))
        try checkQueue("asking for the leader of queue \(queue)")
        while let event = try nextEvent() {
            switch event {
            case .delivered(let delivery): try requeue(delivery.tag)
            case .closed(let error): throw error
            default: break
            }
        }
    }

    /// Whether the broker knows `x-credit`: RabbitMQ before version 4. A broker that reports no version counts as
    /// newer.
    private var hasCredit: Bool {
        guard let properties = amqp_get_server_properties(state),
            case .string(let version)? = AMQPTable(properties.pointee)["version"],
            let major = version.split(separator: ".").first.flatMap({ Int($0) })
        else { return false }
        return major < 4
    }

    /// Throws ``AMQPError/Code/accessRefused``, with the name of the exchange, if this user may not publish to it.
    /// Changes nothing: nothing is bound to an exchange that does not exist, and no queue gets the message.
    ///
    /// The default exchange cannot be bound, so a message for no queue is published to it. To any other exchange a
    /// message could be routed; binding it to another one needs the same right.
    func tryPublishing(to exchange: String) throws(AMQPError) {
        defer { arena.reset() }
        let nothing = "securepush.doctor.does-not-exist"
        if exchange.isEmpty {
            try publish(AMQPMessage(exchange: "", routingKey: nothing, body: []))
            // The broker answers this after it has looked at the message.
            _ = amqp_basic_qos(state, Handle.channel, 0, 1, 0)
            return try check("publishing to the default exchange")
        }
        _ = amqp_exchange_bind(
            state, Handle.channel, arena.bytes(exchange), arena.bytes(nothing), amqp_empty_bytes, amqp_empty_table)
        try check("trying exchange \(exchange)")
    }

    func cancelConsumer(tag: String) throws(AMQPError) {
        defer { arena.reset() }
        _ = amqp_basic_cancel(state, Handle.channel, arena.bytes(tag))
        try check("cancelling the consumer")
    }

    /// Like ``check(_:)``, for requests that a queue without a leader never answers.
    private func checkQueue(_ what: @autoclosure () -> String) throws(AMQPError) {
        do {
            try check(what())
        } catch {
            guard error.code == .timeout else { throw error }
            throw AMQPError(.queueUnavailable, "\(error.message); \(AMQPError.leaderlessAdvice)", status: error.status)
        }
    }
}

extension Handle {
    /// Takes one message (`basic.get`); `nil` if the queue is empty. Blocks for at most `replyTimeout` per frame.
    ///
    /// The frames are read one by one instead of by `amqp_read_message`, which holds a body of any length.
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

    /// Reopens the channel after the broker closed it because of an error.
    func reopenChannel() throws(AMQPError) {
        var ok = amqp_channel_close_ok_t()
        try check(
            amqp_send_method(state, Handle.channel, CRabbitMQChannelCloseOK, &ok), "answering a channel's close")
        _ = amqp_channel_open(state, Handle.channel)
        try check("opening a channel")
    }
}
