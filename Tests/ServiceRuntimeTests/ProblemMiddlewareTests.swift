import Domain
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
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
        router.get("/payload") { _, _ -> String in throw PayloadError(.unknownKey, "The key ring holds no key k7.") }
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
        ("/nowhere", 404, "Not Found", #""detail":"There is nothing at this path.","#),
        ("/things/1/2", 404, "Not Found", #""detail":"There is nothing at this path.","#),
        ("/payload", 500, "Internal Server Error", ""),
        ("/cancelled", 503, "Service Unavailable", #""detail":"The service is shutting down.","#),
    ])
    func `Every error is a problem`(path: String, code: Int, title: String, detail: String) async throws {
        let response = try await send(path, headers: [Self.name: "r1"])
        #expect(response.status.code == code)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[Self.name] == "r1")
        #expect(
            String(buffer: response.body)
                == #"{"type":"about:blank","title":"\#(title)","status":\#(code),\#(detail)"instance":"r1"}"#)
    }

    @Test func `A method that is not taken gets 405 with those that are`() async throws {
        let response = try await send("/things/1", .delete)
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "GET, HEAD, POST")
    }

    @Test func `A body that is too large gets 413`() async throws {
        let response = try await send("/upload", .post, body: "12345")
        #expect(response.status == .contentTooLarge)
        #expect(response.headers[.contentType] == "application/problem+json")
    }

    @Test(arguments: ["a", "3f1c-44:x/y\"<>", String(repeating: "x", count: 128)])
    func `The ID of a request is kept`(identifier: String) async throws {
        let response = try await send("/ok", headers: [Self.name: identifier])
        #expect(response.headers[Self.name] == identifier)
        #expect(String(buffer: response.body) == identifier)
    }

    @Test(arguments: [nil, "", "two words", "ü", String(repeating: "x", count: 129)])
    func `A request without a valid ID gets one`(identifier: String?) async throws {
        var headers = HTTPFields()
        headers[Self.name] = identifier
        let response = try await send("/ok", headers: headers)
        let made = try #require(response.headers[Self.name])
        #expect(made != identifier)
        #expect(made.wholeMatch(of: /[0-9a-z]{13}/) != nil)
        #expect(String(buffer: response.body) == made)
    }

    @Test func `Own IDs differ`() {
        #expect(Set((0..<10_000).map { _ in RequestIdentifier.make() }).count == 10_000)
    }

    @Test func `Instances are URIs`() async throws {
        let response = try await send("/nowhere", headers: [Self.name: "a<\"%>"])
        #expect(String(buffer: response.body).contains(#""instance":"a%3C%22%25%3E""#))
    }

    @Test func `HEAD is answered where GET is`() async throws {
        let response = try await send("/ok", .head)
        #expect(response.status == .ok)
        #expect(response.body.readableBytes == 0)
    }

    @Test func `Requests are counted by their routes`() async throws {
        let context = ServiceContext.test()
        for path in ["/things/1", "/things/2", "/nowhere/1", "/nowhere/2"] {
            _ = try await send(path, context: context)
        }
        _ = try await send("/ok", HTTPRequest.Method("BREW") ?? .get, context: context)
        let text = context.metrics.exposition()
        let name = "securepush_http_requests_total"
        #expect(text.contains(#"\#(name){method="GET",route="/things/{id}",status="410"} 2"#))
        #expect(text.contains(#"\#(name){method="GET",route="NotFound",status="404"} 2"#))
        #expect(text.contains(#"\#(name){method="other",route="none",status="501"} 1"#))
        #expect(text.contains("securepush_http_request_duration_seconds_count{"))
        #expect(!text.contains("/things/1") && !text.contains("BREW"))
    }

    @Test func `Surprises are logged without their contents`() async throws {
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

    @Test func `There is no access log without the setting`() async throws {
        let sink = LineSink()
        _ = try await send("/ok", context: .test(logger: sink.logger(level: .info)))
        #expect(sink.lines.isEmpty)
    }

    @Test func `An unknown method is 501 before anything else`() async throws {
        let context = ServiceContext.test()
        context.requests.setLimit(0)
        for path in ["/ok", "/things/1", "/nowhere", "/livez"] {
            let response = try await send(path, HTTPRequest.Method("BREW") ?? .get, context: context)
            #expect(response.status == .notImplemented)
            #expect(String(buffer: response.body).contains(#""detail":"This service does not implement the method.""#))
        }
        // The standard's own methods are known, and not taken here.
        context.requests.setLimit(10)
        for method in ["TRACE", "CONNECT", "QUERY"].compactMap({ HTTPRequest.Method($0) }) {
            #expect(try await send("/ok", method, context: context).status == .methodNotAllowed)
        }
    }

    @Test func `Invented methods are not kept`() {
        let instruments = HTTPInstruments(metrics: PrometheusMetrics())
        for number in 0..<1000 {
            let method = HTTPRequest.Method("M\(number)") ?? .get
            instruments.record(route: "none", method: method, status: 501, nanoseconds: 1)
        }
        #expect(instruments.count == 1)
    }

    @Test(arguments: [
        ("/ok", 200), ("/nowhere", 404), ("/things/1", 410), ("/surprise", 500), ("/posts", 405), ("/payload", 500),
    ])
    func `No answer to HEAD has a body`(path: String, code: Int) async throws {
        let response = try await withApplication(routes: { router in
            routes(router)
            router.post("/posts") { _, _ in "made" }
        }) { try await $0.execute(uri: path, method: .head) }
        #expect(response.status.code == code)
        #expect(response.body.readableBytes == 0)
    }

    @Test func `A missing payload key is logged with its message`() async throws {
        let sink = LineSink()
        let response = try await send("/payload", context: .test(logger: sink.logger(level: .info)))
        #expect(response.status == .internalServerError)
        #expect(!String(buffer: response.body).contains("no key"))
        #expect(sink.lines.contains { $0.contains("The key ring holds no key k7.") && $0.contains("ERROR") })
    }

    /// A batch's lines and a request's own answer say the same of an error.
    @Test func `Errors inside an answer are mapped alike`() async throws {
        let errors: [any Error] = [
            Problem.gone("It is gone."), Surprise(), HTTPError(.badRequest, message: "odd"), CancellationError(),
            PayloadError(.unknownKey, "none"), StorageError(.unavailable, "away"), StorageError(.failed, "refused"),
            AuthenticationError(.missing, "Who?"),
        ]
        for error in errors {
            let response = try await withApplication(routes: { router in
                router.get("/fails") { _, _ -> String in throw error }
            }) { try await $0.execute(uri: "/fails", method: .get, headers: [Self.name: "r1"]) }
            #expect(String(buffer: response.body) == Problem(error, requestID: "r1").json)
        }
    }

    @Test func `Beyond the limit in flight is 503 except for operators`() async throws {
        let context = ServiceContext.test()
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let isAsked = Mutex(false)
        try await withApplication(
            context: context,
            routes: { router in
                router.addOperations(readiness: [], context: context)
                router.get("/slow") { _, _ in
                    enter.yield()
                    for await _ in released {}
                    return "done"
                }
                router.get("/store") { _, _ in
                    isAsked.withLock { $0 = true }
                    return "asked"
                }
            },
            { client in
                context.requests.setLimit(2)
                try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                    for _ in 0..<2 {
                        group.addTask { try await client.execute(uri: "/slow", method: .get).status }
                    }
                    var iterator = entered.makeAsyncIterator()
                    for _ in 0..<2 { await iterator.next() }
                    let refused = try await client.execute(uri: "/store", method: .get)
                    #expect(refused.status == .serviceUnavailable)
                    #expect(refused.headers[.retryAfter] == "1")
                    #expect(!isAsked.withLock { $0 })
                    for path in ["/livez", "/readyz", "/metrics", "/version"] {
                        #expect(try await client.execute(uri: path, method: .get).status == .ok)
                    }
                    release.finish()
                    for try await status in group { #expect(status == .ok) }
                    #expect(try await client.execute(uri: "/store", method: .get).status == .ok)
                }
            })
        #expect(context.requests.current == 0)
    }

    @Test func `A streamed answer is in flight until it is written`() async throws {
        let context = ServiceContext.test()
        let seen = Mutex<[Int]>([])
        try await withApplication(
            context: context,
            routes: { router in
                router.get("/stream") { _, _ in
                    Response(
                        status: .ok,
                        body: ResponseBody { writer in
                            seen.withLock { $0.append(context.requests.current) }
                            try await writer.write(ByteBuffer(string: "line"))
                            try await writer.finish(nil)
                        })
                }
            },
            { client in
                let response = try await client.execute(uri: "/stream", method: .get)
                #expect(String(buffer: response.body) == "line")
            })
        #expect(seen.withLock { $0 } == [1])
        #expect(context.requests.current == 0)
    }
}
