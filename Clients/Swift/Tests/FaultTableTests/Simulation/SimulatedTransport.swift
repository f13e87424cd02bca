import Foundation
import SecurePushClient

/// A process's way to the server, with the faults of the network and of the server.
struct SimulatedTransport: Transport {
    let server: SimulatedServer
    let clock: SimulatedClock
    let process: SimulatedProcess
    let faults: FaultPlan

    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse {
        let stage = Stage(request)
        return try await process.call("\(request.method) \(stage)") {
            try await clock.sleep(for: 0.05)
            guard let fault = await faults.request(stage) else { return server.respond(to: request) }
            return try await failing(fault, request, timeout, maxBytes)
        }
    }

    private func failing(
        _ fault: Fault, _ request: TransportRequest, _ timeout: TimeInterval, _ maxBytes: Int
    ) async throws -> TransportResponse {
        switch fault {
        case .connectionRefused: throw TransportError.unreachable
        case .timeout:
            // The server has done its work; its answer is lost.
            _ = server.respond(to: request)
            try await clock.sleep(for: timeout)
            throw TransportError.timedOut
        case .slowBody:
            // A transport that does not keep to the time-out. It stops only when it is cancelled.
            _ = server.respond(to: request)
            try await clock.sleep(for: 600)
            throw TransportError.timedOut
        case .tlsFailure: throw TransportError.untrusted
        case .redirect:
            return TransportResponse(status: 302, headers: ["Location": "https://evil.example/"])
        case .tenMegabytes:
            if maxBytes < 10 << 20 { throw TransportError.tooLarge }
            return TransportResponse(status: 200, body: Data(count: 10 << 20))
        case .wrongJSON:
            return TransportResponse(status: 200, body: Data("{\"Id\":7,\"Payload\":".utf8))
        case .wrongID:
            let body = "{\"Id\":\"019aa4a2-ffff-7000-8000-000000000000\",\"Payload\":\"another's\",\"Read\":false}"
            return TransportResponse(status: 200, body: Data(body.utf8))
        case .status(let status, let retryAfter):
            let headers = retryAfter.map { ["Retry-After": String($0)] } ?? [:]
            return .refusal(status, headers: headers)
        case .proxy(let status): return .ofProxy(status)
        case .unauthorizedAfterRefresh: return .refusal(401)
        default: return server.respond(to: request)
        }
    }
}

extension Stage {
    /// The stage to which a request belongs.
    fileprivate init(_ request: TransportRequest) {
        let path = request.url.path
        if path.hasSuffix("/api/token") {
            self = .token
        } else if path.hasSuffix("/api/push-keys") {
            self = .keys
        } else if path.hasSuffix("/shown") || path.hasSuffix("/read") {
            self = .markShown
        } else if path.hasSuffix("/api/notifications") {
            self = .inbox
        } else {
            self = .fetch
        }
    }
}
