/// A failure between this process and the broker. Never holds a credential.
package struct AMQPError: Error, Sendable, Hashable {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case notConnected, connectFailed, tls, accessRefused, notFound, preconditionFailed, queueUnavailable
            case blocked, nacked, returned, timeout, connectionLost, full, closed, resources
        }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// There is no connection now; ``AMQPPublisher/run()`` is making one, or is not running.
        package static let notConnected = Code(.notConnected)
        /// No node could be reached, or the peer does not speak AMQP 0-9-1.
        package static let connectFailed = Code(.connectFailed)
        /// The TLS handshake failed: the certificate is not trusted, or belongs to another host.
        package static let tls = Code(.tls)
        /// Wrong credentials, an unknown virtual host, or no permission (403, 530).
        package static let accessRefused = Code(.accessRefused)
        /// No such queue or exchange (404).
        package static let notFound = Code(.notFound)
        /// A queue or exchange exists with other settings (406).
        package static let preconditionFailed = Code(.preconditionFailed)
        /// A queue exists but does not answer: a quorum queue without a leader.
        package static let queueUnavailable = Code(.queueUnavailable)
        /// The broker accepts no messages (`connection.blocked`: a memory or disk alarm).
        package static let blocked = Code(.blocked)
        /// The broker refused the message (`basic.nack`).
        package static let nacked = Code(.nacked)
        /// No queue accepted the message (`basic.return`).
        package static let returned = Code(.returned)
        /// No reply in time. The command may have been executed.
        package static let timeout = Code(.timeout)
        /// The connection broke. Commands in flight may have been executed.
        package static let connectionLost = Code(.connectionLost)
        /// Too many messages are waiting. Nothing was sent.
        package static let full = Code(.full)
        /// The broker closed the channel or the connection for another reason; see ``AMQPError/replyCode``.
        package static let closed = Code(.closed)
        /// This process has no thread or no file descriptor left for a connection. Nothing was sent.
        package static let resources = Code(.resources)

        package var description: String { value.rawValue }
    }

    package var code: Code
    /// A description of the error for an operator.
    package var message: String
    /// The broker's reply code (AMQP 0-9-1, section 1.1), or 0.
    package var replyCode: UInt16
    /// librabbitmq's status, or 0.
    package var status: Int32

    package init(_ code: Code, _ message: String, replyCode: UInt16 = 0, status: Int32 = 0) {
        self.code = code
        self.message = message
        self.replyCode = replyCode
        self.status = status
    }
}

extension AMQPError: CustomStringConvertible {
    package var description: String { "amqp \(code): \(message)" }
}
