import SecurePushCore
import ServiceRuntime

extension PushGatewayError {
    /// The answer to a device whose registration the hub did not take.
    var problem: Problem {
        switch code {
        case .gone: .gone("The hub has given up this registration ID: make a new one.")
        case .throttled, .unavailable:
            .serviceUnavailable("The hub cannot be reached now.", retryAfter: retryAfter ?? .seconds(1))
        case .rejected: .badGateway("The hub does not take this registration.")
        default: .badGateway("The hub does not take this server's credentials.")
        }
    }
}
