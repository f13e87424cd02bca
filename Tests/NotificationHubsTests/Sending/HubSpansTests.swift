import Domain
import Foundations
import Logging
import NIOCore
import TestSupport
import Testing
import Tracing

@testable import NotificationHubs

@Suite("Spans of requests to the hub")
struct HubSpansTests {
    private static let parent = TraceContext.random(isSampled: true)

    /// Sends once for each trace, and returns the spans.
    private func spans(
        _ script: @escaping FakeHub.Script, traces: [PushTrace?], options: HubSenderOptions = HubSenderOptions()
    ) async throws -> (spans: [FinishedSpan], hub: FakeHub) {
        let book = SpanTable()
        return try await withFakeHub(script) { hub in
            let sender = HubSender(
                configuration: try localHub(port: hub.port), concurrency: 1, tracer: book.tracer(),
                logger: Logger(label: "test"), options: options)
            return try await withService(sender) { _ in
                for trace in traces {
                    await withCheckedContinuation { continuation in
                        sender.send(.sample, trace: trace) { _ in continuation.resume() }
                    }
                }
                return (book.spans, hub)
            }
        }
    }

    @Test func `A request is a span below its message`() async throws {
        let trace = PushTrace(parent: Self.parent, resendCount: 0)
        let (spans, hub) = try await spans({ _ in [FakeHub.created("M-7")] }, traces: [trace])
        let span = try #require(spans.first)
        #expect(spans.count == 1 && span.name == "POST /{hub}/messages/" && span.kind == .client && !span.hasFailed)
        #expect(span.trace.traceID == Self.parent.traceID && span.parentSpanID == Self.parent.spanID)
        #expect(
            span.texts == [
                "http.request.method": "POST", "url.template": "/{hub}/messages/",
                "url.full": "http://127.0.0.1:\(hub.port)/hub/messages/", "server.address": "127.0.0.1",
                "server.port": "\(hub.port)", "http.response.status_code": "201", "securepush.platform": "apple",
                "securepush.result": "sent",
            ])
        // Neither the recipient nor the key.
        for secret in ["alice", "secret-key", "SharedAccessSignature"] { #expect(!"\(span)".contains(secret)) }
        #expect(hub.requests.first?.header("traceparent") == span.trace.traceparent)
    }

    @Test(arguments: [
        ("ns.servicebus.windows.net", true), ("NS.ServiceBus.chinacloudapi.cn", true), ("hub.example.org", false),
        ("servicebus.example.org", false), ("127.0.0.1", false),
    ])
    func `Azure learns nothing of the trace`(_ host: String, _ isAzure: Bool) {
        #expect(HubSpans.isAzure(host) == isAzure)
    }

    @Test func `A failure is an error and counts again`() async throws {
        let traces = [PushTrace(parent: Self.parent, resendCount: 2)]
        let (spans, _) = try await spans({ _ in [FakeHub.answer("503 Service Unavailable")] }, traces: traces)
        let texts = try #require(spans.first).texts
        #expect(spans[0].hasFailed)
        #expect(texts["http.response.status_code"] == "503" && texts["error.type"] == "503")
        #expect(texts["http.request.resend_count"] == "2" && texts["securepush.result"] == "unavailable")
    }

    @Test func `A hub that does not answer is a timeout`() async throws {
        var options = HubSenderOptions()
        options.deadline = .milliseconds(200)
        let trace = PushTrace(parent: Self.parent, resendCount: 0)
        let (spans, _) = try await spans({ _ in [.wait(.seconds(5))] }, traces: [trace], options: options)
        let span = try #require(spans.first)
        #expect(span.hasFailed && span.texts["error.type"] == "timeout")
        #expect(span.texts["http.response.status_code"] == nil)
        #expect(span.end - span.start >= 150_000_000)
    }

    @Test func `Without a trace there is no span`() async throws {
        let unsampled = PushTrace(parent: .random(), resendCount: 0)
        let (spans, hub) = try await spans({ _ in [FakeHub.created()] }, traces: [nil, unsampled])
        #expect(spans.isEmpty && hub.requests.count == 2)
        #expect(hub.requests.allSatisfy { $0.header("traceparent") == nil })
    }
}
