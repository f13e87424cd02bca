import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// A service that listens.
struct RunningService: Sendable {
    let process: ProcessUnderTest
    let port: Int

    typealias Answer = LoopbackHTTP.Response

    private static let http = LoopbackHTTP(connections: 8)

    func request(
        _ method: HTTPMethod = .GET, _ path: String, bearer: String? = nil, authorization: String? = nil,
        headers: [String: String] = [:], body: String? = nil
    ) async throws -> Answer {
        var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
        if let authorization { fields.replaceOrAdd(name: "Authorization", value: authorization) }
        do {
            return try await Self.http.send(
                method, port: port, path, headers: fields, bearer: bearer, json: body, timeout: patience)
        } catch {
            throw NotAnswered(
                service: process.name, isRunning: process.isRunning, error: "\(error)",
                log: process.standardError.suffix(2000))
        }
    }

    private struct NotAnswered: Error {
        let service: String
        let isRunning: Bool
        let error: String
        let log: Substring
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
        try await eventually {
            let answer = try await request(.GET, "/readyz")
            return answer.status == 200 && answer.body.contains(text)
        }
    }

    /// Ends it by SIGTERM, and expects that it drains: exit code 0. It takes 10 s at most, and more on a busy machine.
    func drain(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        process.terminate()
        let code = try await process.exitCode()
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
