import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import ServiceRuntime

@Suite("Reading a body, and answering without a cache")
struct RequestBodyTests {
    private func post(_ body: String, contentType: String = "application/json") async throws -> TestResponse {
        let context = ServiceContext.test()
        return try await withApplication(
            context: context,
            routes: { router in
                router.post("/json") { request, _ in Response.json(.created, try await request.jsonBody(upTo: 10)) }
            }
        ) { client in
            try await client.execute(
                uri: "/json", method: .post, headers: [.contentType: contentType], body: ByteBuffer(string: body))
        }
    }

    /// A request whose body comes in chunks, and whose length only its end tells.
    private func chunked(_ texts: [String] = ["12", "345", "6"]) -> Request {
        let (stream, chunks) = AsyncStream.makeStream(of: ByteBuffer.self)
        for text in texts { chunks.yield(ByteBuffer(string: text)) }
        chunks.finish()
        return Request(
            head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"),
            body: RequestBody(asyncSequence: stream))
    }

    @Test func `A body up to the limit is read`() async throws {
        let answer = try await post("[12345678]")
        #expect(answer.status == .created)
        #expect(answer.headers[.contentType] == "application/json")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(String(buffer: answer.body) == "[12345678]")
    }

    @Test func `A larger body is 413`() async throws {
        let answer = try await post("[123456789]")
        #expect(answer.status == .contentTooLarge)
        #expect(String(buffer: answer.body).contains("The body may be at most 10 bytes."))
    }

    @Test func `Another media type is 415`() async throws {
        #expect(try await post("[]", contentType: "text/plain").status == .unsupportedMediaType)
    }

    @Test func `Chunks are counted before they are kept`() async throws {
        var sizes: [Int] = []
        let whole = try await chunked().wholeBody(upTo: 6) { sizes.append($0) }
        #expect(String(buffer: whole) == "123456")
        #expect(sizes == [2, 3, 1])
    }

    /// In HTTP/2 the head need not say that there is a body.
    @Test(arguments: [([], []), (["", "12", "3"], ["0", "body", "2", "1"])] as [([String], [String])])
    func `A body that the head does not announce is checked once`(texts: [String], expected: [String]) async throws {
        var calls: [String] = []
        _ = try await chunked(texts).wholeBody(
            upTo: 6, onChunk: { calls.append("\($0)") }, onBody: { calls.append("body") })
        #expect(calls == expected)
    }

    @Test func `Chunks beyond the limit are refused`() async {
        await #expect(throws: Problem.contentTooLarge("Too much.")) {
            try await chunked().wholeBody(upTo: 5, tooLarge: "Too much.")
        }
    }
}
