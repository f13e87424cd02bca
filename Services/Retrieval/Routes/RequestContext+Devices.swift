import Domain
import Foundations
import Hummingbird
import Logging
import ServiceRuntime

extension RequestContext {
    /// The device ID in the path, which the router leaves percent-encoded; `nil` if it is not a valid ID.
    var deviceID: String? {
        parameters.get("id").flatMap { PercentCoding.decode($0) }.flatMap { DeviceID.isValid($0) ? $0 : nil }
    }

    /// Runs requests to the hub. A failure of the hub is a problem for the device and never a false 200.
    ///
    /// Only the kind of failure is logged, because the hub's text may contain the handle.
    func askingHub<Answer: Sendable>(_ ask: () async throws -> Answer) async throws -> Answer {
        do {
            return try await ask()
        } catch let error as PushGatewayError {
            logger.warning("The hub failed a device's request", metadata: ["hub.error": "\(error.code)"])
            throw error.problem
        }
    }
}

extension PushGatewayError {
    /// The response to a device whose registration or installation the hub did not accept.
    fileprivate var problem: Problem {
        switch code {
        case .gone: .gone("The hub no longer accepts this ID; create a new one.")
        case .throttled, .unavailable:
            .serviceUnavailable("The hub is unavailable; retry later.", retryAfter: retryAfter ?? .seconds(1))
        case .rejected: .badGateway("The hub rejected this device.")
        default: .badGateway("The hub rejected this server's credentials.")
        }
    }
}
