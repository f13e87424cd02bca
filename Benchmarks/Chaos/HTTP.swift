import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The run's requests to services.
struct HTTP: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
    }

    private let client: HTTPClient

    init(connections: Int) {
        var settings = HTTPClient.Configuration()
        settings.connectionPool.retryConnectionEstablishment = false
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        settings.timeout.connect = .seconds(3)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    func send(
        _ method: HTTPMethod = .GET, port: Int, _ path: String, bearer: String? = nil, key: String? = nil,
        json: String? = nil, timeout: TimeAmount = .seconds(8)
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: json))
        }
        let response = try await client.execute(request, timeout: timeout)
        let body = try await response.body.collect(upTo: 64 << 20)
        return Answer(status: Int(response.status.code), body: Array(body.readableBytesView))
    }

    /// Waits until a path is answered with 200.
    ///
    /// - Returns: whether it was, in time.
    func awaitSuccess(port: Int, _ path: String, within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !Task.isCancelled {
            if let answer = try? await send(port: port, path, timeout: .seconds(3)), answer.status == 200 {
                return true
            }
            await pause(.milliseconds(100))
        }
        return false
    }

    func close() async { try? await client.shutdown() }
}

extension HTTP.Answer {
    func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }
}
