import APITestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Ingest

extension IngestBench {
    /// `POST /api/notifications/batch` by the sender, unless a test says otherwise.
    func batch(
        _ body: String, authorization: String? = nil, contentType: String? = "application/x-ndjson",
        headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        try await batch(
            bytes: Array(body.utf8), authorization: authorization, contentType: contentType, headers: headers)
    }

    func batch(_ lines: [String], key: String? = nil) async throws -> TestResponse {
        try await batch(lines.joined(separator: "\n"), headers: key.map { [.idempotencyKey: $0] } ?? [:])
    }

    func batch(
        bytes: [UInt8], authorization: String? = nil, contentType: String? = "application/x-ndjson",
        headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var fields = headers
        fields[.authorization] = authorization ?? credentials.sender
        fields[.contentType] = contentType
        return try await client.execute(
            uri: "/api/notifications/batch", method: .post, headers: fields, body: ByteBuffer(bytes: bytes))
    }
}

extension TestResponse {
    /// The lines of an NDJSON answer; each ends with LF.
    var lines: [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.last == "", "the last line has no end")
        return lines.dropLast()
    }

    func results() throws -> [[String: Any]] { try lines.map { try $0.object() } }
}

extension String {
    /// The text as a JSON object.
    func object() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(utf8)) as? [String: Any], "\(self)")
    }
}

extension RawConnection {
    /// The end of a batch's answer, which comes in chunks.
    static let endOfBatch = "\r\n0\r\n\r\n"

    static func batchHead(_ bench: IngestBench, _ field: String = "Transfer-Encoding: chunked") -> String {
        """
        POST /api/notifications/batch HTTP/1.1\r
        Host: localhost\r
        Authorization: \(bench.credentials.sender)\r
        Content-Type: application/x-ndjson\r
        \(field)\r
        \r

        """
    }
}
