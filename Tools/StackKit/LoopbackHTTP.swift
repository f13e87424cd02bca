import AsyncHTTPClient
import Foundation
import NIOCore
package import NIOHTTP1

/// Requests to services on loopback. A refused connection is an error at once: the port belongs to a service that is
/// down.
package struct LoopbackHTTP: Sendable {
    package struct Response: Sendable {
        package let status: Int
        package let headers: HTTPHeaders
        package let bytes: [UInt8]

        /// The body as UTF-8.
        package var body: String { String(decoding: bytes, as: UTF8.self) }

        /// The body as JSON.
        package func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSONDecoder().decode(type, from: Data(bytes))
        }
    }

    private let client: HTTPClient

    /// - Parameter connections: how many connections to one service may be open.
    package init(connections: Int) {
        var settings = HTTPClient.Configuration()
        settings.connectionPool.retryConnectionEstablishment = false
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        // It counts while a request waits for one of the connections, too. The time of a request bounds both.
        settings.timeout.connect = TimeAmount(patience)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// - Parameters:
    ///   - path: with its query.
    ///   - json: the body, sent as `application/json`.
    package func send(
        _ method: HTTPMethod = .GET, port: Int, _ path: String, headers: HTTPHeaders = [:], bearer: String? = nil,
        json: String? = nil, timeout: Duration = .seconds(8)
    ) async throws -> Response {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers = headers
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: json))
        }
        let response = try await client.execute(request, timeout: TimeAmount(timeout))
        let body = try await response.body.collect(upTo: 64 << 20)
        return Response(
            status: Int(response.status.code), headers: response.headers, bytes: Array(body.readableBytesView))
    }

    /// Polls a path until it answers 200.
    ///
    /// - Returns: whether it did before the limit.
    package func waitUntilOK(port: Int, _ path: String, within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !Task.isCancelled {
            if let response = try? await send(port: port, path, timeout: .seconds(3)), response.status == 200 {
                return true
            }
            await pause(.milliseconds(100))
        }
        return false
    }

    package func close() async { try? await client.shutdown() }
}
