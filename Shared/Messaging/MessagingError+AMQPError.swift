import AMQP
import SecurePushCore

extension MessagingError {
    init(_ error: AMQPError) {
        let code: Code =
            switch error.code {
            case .blocked: .blocked
            case .nacked: .nacked
            case .returned: .returned
            case .timeout: .timeout
            case .full: .full
            case .connectionLost, .closed, .queueUnavailable: .connectionLost
            default: .notConnected
            }
        self.init(code, error.message)
    }
}
