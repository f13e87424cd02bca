import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import ServiceRuntime

@Suite("Errors, request IDs and metrics of every answer")
struct ProblemMiddlewareTests {
    private struct Surprise: Error {
        let secret = "hunter2"
    }

    private static let name = HTTPField.Name.xRequestID

    private func routes(_ router: Router<BasicRequestContext>) {
        router.get("/ok") { _, context in context.id }
        router.get("/things/{id}") { _, _ -> String in throw Problem.gone("It is gone.") }
        router.post("/things/{id}") { _, _ in "made" }
        router.get("/surprise") { _, _ -> String in throw Surprise() }
        router.get("/hummingbird") { _, _ -> String in throw HTTPError(.badRequest, message: "odd") }
        router.get("/missing") { _, _ -> String in throw HTTPError(.notFound) }
        router.get("/cancelled") { _, _ -> String in throw CancellationError() }
        router.post("/upload") { request, _ in
            let body = try await request.body.collect(upTo: 4)
            return "\(body.readableBytes)"
        }
    }

    private func send(
        _ path: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: String? = nil,
        context: ServiceContext = .test()
    ) async throws -> TestResponse {
        try await withApplication(context: context, routes: routes) { client in
            try await client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }
    }

    @Test(arguments: [
        ("/things/1", 410, "Gone", #""detail":"It is gone.","#), ("/surprise", 500, "Internal Server Error", ""),
        ("/hummingbird", 400, "Bad Request", #""detail":"odd","#), ("/missing", 404, "Not Found", ""),
        ("/nowhere", 404, "Not Found", ""), ("/things/1/2", 404, "Not Found", ""),
        ("/cancelled", 503, "Service Unavailable", #""detail":"The service is shutting down.","#),
    ])
    func everyErrorIsAProblem(path: String, code: Int, title: String, detail: String) async throws {
        let response = try await send(path, headers: [Self.name: "r1"])
        #expect(response.status.code == code)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[Self.name] == "r1")
        #expect(
            String(buffer: response.body)
                == #"{"type":"about:blank","title":"\#(title)","status":\#(code),\#(detail)"instance":"r1"}"#)
    }

    @Test func methodNotAllowed() async throws {
        let response = try await send("/things/1", .delete)
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "GET, HEAD, POST")
    }

    @Test func tooLarge() async throws {
        let response = try await send("/upload", .post, body: "12345")
        #expect(response.status == .contentTooLarge)
        #expect(response.headers[.contentType] == "application/problem+json")
    }

    @Test(arguments: ["a", "3f1c-44:x/y\"<>", String(repeating: "x", count: 128)])
    func givenIDs(identifier: String) async throws {
        let response = try await send("/ok", headers: [Self.name: identifier])
        #expect(response.headers[Self.name] == identifier)
        #expect(String(buffer: response.body) == identifier)
    }

    @Test(arguments: [nil, "", "two words", "ü", String(repeating: "x", count: 129)])
    func ownIDs(identifier: String?) async throws {
        var headers = HTTPFields()
        headers[Self.name] = identifier
        let response = try await send("/ok", headers: headers)
        let made = try #require(response.headers[Self.name])
        #expect(made != identifier)
        #expect(made.wholeMatch(of: /[0-9a-z]{13}/) != nil)
        #expect(String(buffer: response.body) == made)
    }

    @Test func ownIDsDiffer() {
        #expect(Set((0..<10_000).map { _ in RequestIdentifier.make() }).count == 10_000)
    }

    @Test func instancesAreURIs() async throws {
        let response = try await send("/nowhere", headers: [Self.name: "a<\"%>"])
        #expect(String(buffer: response.body).contains(#""instance":"a%3C%22%25%3E""#))
    }

    @Test func headInsteadOfGet() async throws {
        let response = try await send("/ok", .head)
        #expect(response.status == .ok)
        #expect(response.body.readableBytes == 0)
    }

    @Test func metrics() async throws {
        let context = ServiceContext.test()
        for path in ["/things/1", "/things/2", "/nowhere/1", "/nowhere/2"] {
            _ = try await send(path, context: context)
        }
        _ = try await send("/ok", HTTPRequest.Method("BREW") ?? .get, context: context)
        let text = context.metrics.exposition()
        let name = "securepush_http_requests_total"
        #expect(text.contains(#"\#(name){method="GET",route="/things/{id}",status="410"} 2"#))
        #expect(text.contains(#"\#(name){method="GET",route="NotFound",status="404"} 2"#))
        #expect(text.contains(#"\#(name){method="other",route="NotFound",status="405"} 1"#))
        #expect(text.contains("securepush_http_request_duration_seconds_count{"))
        #expect(!text.contains("/things/1") && !text.contains("BREW"))
    }

    @Test func surprisesAreLoggedWithoutTheirContents() async throws {
        let sink = LineSink()
        let context = ServiceContext.test(logger: sink.logger(level: .debug))
        _ = try await send("/surprise", headers: [Self.name: "r7"], context: context)
        let text = sink.lines.joined()
        #expect(text.contains(#""body":"Request failed unexpectedly""#))
        #expect(text.contains(#""request_id":"r7""#))
        #expect(text.contains("Surprise"))
        #expect(text.contains(#""http.route":"/surprise""#))
        #expect(!text.contains("hunter2"))
    }

    @Test func noAccessLogAtInfo() async throws {
        let sink = LineSink()
        _ = try await send("/ok", context: .test(logger: sink.logger(level: .info)))
        #expect(sink.lines.isEmpty)
    }
}
