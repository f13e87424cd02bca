import ArgumentParser
import AsyncHTTPClient
import Foundation
import SecurePushClient
import TestSupport
import Testing

@testable import SecurePushCLI

/// The SDK's transport of this program, against real and silent servers.
@Suite struct HTTPClientTransportTests {
    private func send(
        _ url: String, timeout: TimeInterval = 10, maxBytes: Int = 100_000
    ) async throws -> TransportResponse {
        let http = HTTPClientTransport.makeClient(connections: 2, to: url)
        let request = TransportRequest(method: "GET", url: try #require(URL(string: url)))
        let result: Result<TransportResponse, any Error>
        do {
            result = .success(
                try await HTTPClientTransport(http: http).send(request, timeout: timeout, maxBytes: maxBytes))
        } catch {
            result = .failure(error)
        }
        try await http.shutdown()
        return try result.get()
    }

    @Test func `Responses arrive with their headers, up to the limit`() async throws {
        try await LocalServices.with { services in
            let url = try #require(services.environment["RETRIEVAL_URL"])
            let refused = try await send(url + "/api/notifications")
            #expect(refused.status == 401)
            #expect(refused.headers["www-authenticate"] != nil)
            #expect(!refused.body.isEmpty)
            await #expect(throws: TransportError.tooLarge) { try await send(url + "/openapi.json", maxBytes: 10) }
        }
    }

    @Test func `A server that says nothing is given up in time`() async throws {
        try await withSilentListener { port in
            await #expect(throws: TransportError.timedOut) {
                try await send("http://127.0.0.1:\(port)/", timeout: 0.2)
            }
        }
    }

    @Test func `The proxy of the environment is used`() async throws {
        try await LocalServices.with { services in
            let url = try #require(services.environment["RETRIEVAL_URL"])
            let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
            let proxy = try await ConnectProxy(to: port)
            let settings = Settings(["HTTP_PROXY": "http://127.0.0.1:\(proxy.port)"])
            try await Network.with(try NetworkOptions.parse([]), settings) {
                #expect(try await send("http://push.invalid:\(port)/livez").status == 200)
            }
            #expect(proxy.heads.first?.hasPrefix("CONNECT push.invalid:\(port) ") == true)
            try await proxy.stop()
        }
    }

    @Test func `A server without TLS is not one whose certificate is not trusted`() async throws {
        try await LocalServices.with { services in
            let url = services.environment["RETRIEVAL_URL"]?.replacing("http://", with: "https://") ?? ""
            await #expect(throws: TransportError.unreachable) { try await send(url + "/livez") }
        }
    }

    @Test func `Nothing listens`() async throws {
        await #expect(throws: TransportError.unreachable) { try await send("http://127.0.0.1:9/") }
    }

    @Test func `A cancelled request says so`() async throws {
        try await withSilentListener { port in
            let task = Task { try await send("http://127.0.0.1:\(port)/", timeout: 30) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(arguments: [
        (DiagnosticCode.unreachable, CommandFailure.Code.unreachable), (.status(401), .failed),
        (.status(503), .unreachable), (.malformedAnswer, .failed),
    ])
    func `Failures keep their exit codes`(code: DiagnosticCode, expected: CommandFailure.Code) throws {
        let client = try APIClient(service: "retrieval", url: "http://127.0.0.1:9")
        #expect(CommandFailure(SecurePushFailure(code: code), from: client).code == expected)
    }
}
