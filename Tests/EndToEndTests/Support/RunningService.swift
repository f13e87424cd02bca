import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SecurePushCore
import TestSupport
import Testing

/// A service that listens.
struct RunningService: Sendable {
    let process: ProcessUnderTest
    let port: Int

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: String
    }

    /// Does not try again to connect: a port that refuses belongs to a service that has ended.
    private static let client = {
        var settings = HTTPClient.Configuration()
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout.connect = .seconds(5)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }()

    func request(
        _ method: HTTPMethod = .GET, _ path: String, bearer: String? = nil, authorization: String? = nil,
        body: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await Self.client.execute(request, timeout: .seconds(20))
        let bytes = try await response.body.collect(upTo: 8 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, body: String(buffer: bytes))
    }

    /// Sends a payload, given as JSON text, and expects 201.
    func post(_ payload: String, to recipient: String, _ stack: Stack) async throws -> NotificationID {
        let answer = try await request(
            .POST, "/api/notifications", bearer: stack.apiKey,
            body: #"{"Recipient":"\#(recipient)","Payload":\#(payload)}"#)
        try #require(answer.status == 201, "\(answer.body)")
        let location = try #require(answer.headers.first(name: "Location"))
        return try #require(NotificationID(String(location.suffix(36))))
    }

    /// Waits until all parts of the service are up, or down but not needed, as the text of `/readyz` tells.
    func isReady(_ text: String = #""amqp":"up""#) async throws -> Bool {
        try await eventually(within: .seconds(60)) {
            let answer = try await request(.GET, "/readyz")
            return answer.status == 200 && answer.body.contains(text)
        }
    }

    /// Ends it by SIGTERM, and expects that it drains: exit code 0 within 10 s.
    func drain(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        process.terminate()
        let code = try await process.exitCode(within: .seconds(10))
        #expect(code == 0, "\(process.name): \(process.standardError.suffix(2000))", sourceLocation: sourceLocation)
    }
}

/// Expects that services come up, the broker included.
func expectReady(_ services: RunningService..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
    for service in services {
        let isReady = try await service.isReady()
        #expect(isReady, "\(service.process.name)", sourceLocation: sourceLocation)
    }
}
