import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The one owner of a connection's C state. Used on one thread at a time: librabbitmq locks nothing.
///
/// Everything of librabbitmq is in this folder; what leaves it are Swift values.
final class Handle {
    /// The one channel that is used.
    static let channel: amqp_channel_t = 1

    let state: amqp_connection_state_t
    let arena = Arena()
    let isTLS: Bool
    /// The time between heartbeats as negotiated, or `nil` for none.
    var heartbeat: Duration?
    var content: IncomingContent?
    var names = RepeatedStrings()
    /// What is held of a message that arrives.
    let limits: AMQPReceiveLimits

    /// Connects and logs in. Blocks, `connectTimeout` at most, and as long as the resolver takes to look up the name.
    init(
        node: AMQPConfiguration.Node, configuration: AMQPConfiguration, limits: AMQPReceiveLimits = AMQPReceiveLimits()
    ) throws(AMQPError) {
        guard let state = amqp_new_connection() else {
            throw AMQPError(.connectFailed, "no memory for a connection")
        }
        self.state = state
        isTLS = node.tls != nil
        self.limits = limits
        // From here on, a failure runs `deinit`, which frees the state.
        try connect(to: node, configuration: configuration)
    }

    // Closes the socket too, without a word to the broker.
    deinit { amqp_destroy_connection(state) }

    /// The socket.
    var descriptor: Int32 { amqp_get_sockfd(state) }

    /// Tells the broker goodbye and waits for its answer, a second at most.
    func close() {
        setTimeout(.seconds(1))
        _ = amqp_connection_close(state, AMQP_REPLY_SUCCESS)
    }

    /// How long a call waits for the broker's reply; past it the connection is unusable.
    func setTimeout(_ timeout: Duration) {
        var time = timeval(timeout)
        _ = amqp_set_rpc_timeout(state, &time)
    }

    /// Throws unless the last call that waits for a reply succeeded.
    func check(_ what: @autoclosure () -> String) throws(AMQPError) {
        let reply = amqp_get_rpc_reply(state)
        guard reply.reply_type != AMQP_RESPONSE_NORMAL else { return }
        if let error = AMQPError(reply, doing: what()) { throw error }
    }

    /// Throws unless the status is that of success.
    func check(_ status: Int32, _ what: @autoclosure () -> String) throws(AMQPError) {
        if status < 0 { throw AMQPError(status: status, doing: what()) }
    }
}

extension timeval {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init()
        tv_sec = .init(seconds)
        tv_usec = .init(attoseconds / 1_000_000_000_000)
    }
}
