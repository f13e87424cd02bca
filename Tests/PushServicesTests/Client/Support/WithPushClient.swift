import Logging
import NIOCore
import OutgoingHTTP
import Synchronization

@testable import PushServices

/// The host of requests in tests: only the tests' look-up knows it.
let pushHost = "push.test"

/// Runs a client that finds every name on this machine, and trusts the certificate.
func withPushClient<Value>(
    _ certificate: PushCertificate, _ change: (inout PushHTTPClientConfiguration) -> Void = { _ in },
    _ body: (PushHTTPClient) async throws -> Value
) async throws -> Value {
    var configuration = PushHTTPClientConfiguration(name: "test")
    configuration.outgoing.authorities = certificate.authorities
    configuration.lookUp = { _, port in [try SocketAddress(ipAddress: "127.0.0.1", port: port)] }
    change(&configuration)
    let client = PushHTTPClient(
        configuration: configuration, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    do {
        let value = try await body(client)
        await client.close(deadline: .now)
        return value
    } catch {
        await client.close(deadline: .now)
        throw error
    }
}

/// Runs a client against a server of HTTP/2.
func withHTTP2<Value>(
    maxStreams: Int? = 100, _ change: (inout PushHTTPClientConfiguration) -> Void = { _ in },
    answering script: @escaping FakeHTTP2Server.Script,
    _ body: (FakeHTTP2Server, PushHTTPClient) async throws -> Value
) async throws -> Value {
    try await PushCertificate.with { certificate in
        try await FakeHTTP2Server.with(certificate, maxStreams: maxStreams, script) { server in
            try await withPushClient(certificate, change) { try await body(server, $0) }
        }
    }
}

/// Runs a client against a server of HTTP/1.1.
func withHTTP1<Value>(
    protocols: [String] = ["http/1.1"], _ change: (inout PushHTTPClientConfiguration) -> Void = { _ in },
    answering script: @escaping FakeHTTP1Server.Script,
    _ body: (FakeHTTP1Server, PushHTTPClient) async throws -> Value
) async throws -> Value {
    try await PushCertificate.with { certificate in
        try await FakeHTTP1Server.with(certificate, protocols: protocols, script) { server in
            try await withPushClient(certificate, change) { try await body(server, $0) }
        }
    }
}

extension PushHTTPClient {
    /// Sends a request, by default with much time.
    func post(
        _ path: String = "/push", host: String = pushHost, port: Int, body: [UInt8] = Array("body".utf8),
        headers: [PushHTTPField] = [], within time: Duration = .seconds(60)
    ) async -> Result<PushHTTPResponse, PushHTTPFailure> {
        let origin = PushOrigin(host: host, port: port)
        let request = PushHTTPRequest(origin: origin, path: path, headers: headers, body: body)
        return await send(request, deadline: .now + time)
    }
}

extension Result<PushHTTPResponse, PushHTTPFailure> {
    var status: Int? { try? get().status }

    var failure: PushHTTPFailure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }

    var isUnanswered: Bool {
        if case .unanswered = failure { true } else { false }
    }
}
