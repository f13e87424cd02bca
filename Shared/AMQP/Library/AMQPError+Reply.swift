import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension AMQPError {
    /// The remedy for a quorum queue that does not answer. Restarting the node does not help.
    static let leaderlessAdvice = """
        it seems to have no leader (rabbitmq-server issue 10070): trigger an election with rabbitmqctl eval \
        "ra:trigger_election({'%2F_QUEUE', node()})."
        """

    /// The failure of a call that waits for the broker's reply, or `nil` if it succeeded.
    init?(_ reply: amqp_rpc_reply_t, doing what: String) {
        switch reply.reply_type {
        case AMQP_RESPONSE_NORMAL: return nil
        case AMQP_RESPONSE_SERVER_EXCEPTION:
            var method = reply.reply
            self.init(closing: &method, doing: what)
        case AMQP_RESPONSE_LIBRARY_EXCEPTION: self.init(status: reply.library_error, doing: what)
        default: self.init(.connectionLost, "\(what): the broker closed the connection")
        }
    }

    /// The broker's reason for closing a channel or the connection.
    init(closing method: inout amqp_method_t, doing what: String) {
        var (code, text): (UInt16, amqp_bytes_t) = (0, amqp_empty_bytes)
        crabbitmq_close_reason(&method, &code, &text)
        self.init(replyCode: code, text: String(text), doing: what)
    }

    /// The meaning of a reply code (AMQP 0-9-1, section 1.1).
    init(replyCode: UInt16, text: String, doing what: String) {
        let isTimeout = text.contains("due to timeout") || text.contains("timed out")
        let code: Code =
            switch replyCode {
            case 403, 530: .accessRefused
            case 404, 541: isTimeout ? .queueUnavailable : replyCode == 404 ? .notFound : .closed
            case 406: .preconditionFailed
            case 320: .connectionLost
            default: .closed
            }
        let advice = code == .queueUnavailable ? "; \(AMQPError.leaderlessAdvice)" : ""
        self.init(code, "\(what): \(text) (\(replyCode))\(advice)", replyCode: replyCode)
    }

    /// A status of librabbitmq.
    ///
    /// - Parameter reason: instead of librabbitmq's text.
    init(status: Int32, doing what: String, reason: String? = nil) {
        let text = reason ?? Self.text(of: status, error: errno)
        let code: Code =
            switch status {
            case AMQP_STATUS_TIMEOUT.rawValue: .timeout
            case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED.rawValue: .connectFailed
            case AMQP_STATUS_INCOMPATIBLE_AMQP_VERSION.rawValue: .connectFailed
            case AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD.rawValue: .accessRefused
            case -0x02FF ... -0x0200: .tls
            default: .connectionLost
            }
        self.init(code, "\(what): \(text)", status: status)
    }

    /// librabbitmq's text; for an error of the socket that of the system.
    private static func text(of status: Int32, error: Int32) -> String {
        switch status {
        case AMQP_STATUS_SOCKET_ERROR.rawValue: ConnectFailure.text(of: error) ?? "the connection broke"
        case AMQP_STATUS_CONNECTION_CLOSED.rawValue: "the peer closed the connection"
        default: amqp_error_string2(status).map { String(cString: $0) } ?? "status \(status)"
        }
    }
}
