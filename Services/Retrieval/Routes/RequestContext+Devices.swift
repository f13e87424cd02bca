import Hummingbird
import Logging
import SecurePushCore
import ServiceRuntime

extension PushGatewayError {
    /// The answer to a device whose registration or installation the hub did not take.
    var problem: Problem {
        switch code {
        case .gone: .gone("The hub has given up this registration ID: make a new one.")
        case .throttled, .unavailable:
            .serviceUnavailable("The hub cannot be reached now.", retryAfter: retryAfter ?? .seconds(1))
        case .rejected: .badGateway("The hub does not take this device.")
        default: .badGateway("The hub does not take this server's credentials.")
        }
    }
}

extension RequestContext {
    /// Asks the hub, and tells the device what became of it: never a false 200.
    ///
    /// The log has the kind of failure only: the hub's own text may repeat the handle.
    func askingHub<Answer: Sendable>(_ ask: () async throws -> Answer) async throws -> Answer {
        do {
            return try await ask()
        } catch let error as PushGatewayError {
            logger.warning("The hub did not do what a device asked for", metadata: ["hub.error": "\(error.code)"])
            throw error.problem
        }
    }
}
