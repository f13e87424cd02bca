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
    ///
    /// - Parameter handle: that of a device that is registered. If the hub refuses it, no later try can succeed: 422.
    func askingHub<Answer: Sendable>(
        registering handle: String? = nil, _ ask: () async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await ask()
        } catch let error as PushGatewayError {
            logger.warning("The hub failed a device's request", metadata: ["hub.error": "\(error.code)"])
            if let handle, let refusal = error.refusal(of: handle) { throw refusal }
            throw error.problem
        }
    }
}

extension PushGatewayError {
    /// 422 with the hub's reason, if the hub refuses the device itself; `nil` for every other failure. Words that may
    /// hold the handle, or are no plain text, are left out.
    fileprivate func refusal(of handle: String) -> Problem? {
        guard code == .rejected, let refusal else { return nil }
        let text = refusal.lowercased()
        let words = text.split(separator: " ")
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("://")
            && words.allSatisfy { $0.utf8.count <= 40 } && !text.contains(handle.lowercased())
        return .unprocessable("The hub does not accept this device" + (isPlain ? ": \(refusal)." : "."))
    }

    /// The response to a device whose registration or installation the hub did not accept.
    fileprivate var problem: Problem {
        switch code {
        case .gone: .gone("The hub no longer accepts this ID; create a new one.")
        case .throttled, .unavailable:
            .serviceUnavailable("The hub is unavailable; retry later.", retryAfter: retryAfter ?? .seconds(1))
        case .rejected: .badGateway("The hub rejected the request.")
        default: .badGateway("The hub rejected this server's credentials.")
        }
    }
}
