// A release build compiles this target too, without the testing library.
#if canImport(Testing)
package import HTTPTypes
package import HummingbirdTesting
import NIOCore
package import TestSupport
package import Testing

extension APILedger {
    /// Sends a request, expects its status and notes the exchange.
    @discardableResult package func send(
        _ client: any TestClientProtocol, _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields,
        body: String, expecting status: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let answer = try await client.execute(
            uri: uri, method: method, headers: headers, body: ByteBuffer(string: body))
        #expect(answer.status.code == status, "\(method) \(uri): \(answer.text)", sourceLocation: sourceLocation)
        note(
            APIExchange(
                method: method.rawValue, uri: uri, requestHeaders: Self.pairs(headers),
                requestBody: Array(body.utf8),
                status: answer.status.code, headers: Self.pairs(answer.headers),
                body: Array(answer.body.readableBytesView)))
        return answer
    }

    private static func pairs(_ fields: HTTPFields) -> [APIExchange.Header] {
        fields.map { APIExchange.Header(name: $0.name.rawName, value: $0.value) }
    }
}
#endif
