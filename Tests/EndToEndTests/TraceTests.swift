import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// One notification is one trace. The spans are read by opentelemetry-proto, as a collector reads them.
@Suite("Traces", .serialized, .broker, .timeLimit(.minutes(5)))
struct TraceTests {
    @Test(arguments: TestDatabase.allCases)
    func `One trace goes from the POST to the fetch`(_ database: TestDatabase) async throws {
        try await withStack(database) { stack in
            try await withCollector(stack.folder) { collector in
                let settings = ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "ACCESS_LOG": "true"]
                let ingest = try await stack.start("ingest", settings)
                let dispatcher = try await stack.start("dispatcher", settings)
                let retrieval = try await stack.start("retrieval", settings)
                try await expectReady(ingest, dispatcher)
                #expect(try await retrieval.isReady(#""database":"up""#))

                let id = try await ingest.post(#""the secret text""#, to: "Alice B", stack)
                try await expectEventually { stack.hub.has([id]) }
                let token = stack.token(of: "Alice B")
                // The first goes to the router, which verifies the token; the second takes the direct route.
                for _ in 0..<2 {
                    let answer = try await retrieval.request(.GET, "/api/notifications/\(id)", bearer: token)
                    #expect(answer.status == 200)
                }
                // What is left is sent when they stop.
                for service in [ingest, dispatcher, retrieval] { try await service.drain() }
                #expect(collector.refusals == "")

                let spans = try collector.spans()
                let post = try #require(spans.first { $0.name == "POST /api/notifications" })
                expectOneTrace(spans.filter { $0.trace == post.trace }, of: id)
                #expect(Set(spans.map(\.trace)) == [post.trace])
                for text in ["secret", "alice", "Alice", "username", token, stack.apiKey, "SharedAccessSignature"] {
                    #expect(!collector.text.contains(text), "\(text)")
                }
                expectAccessLog(ingest, "POST", post)
            }
        }
    }

    private func expectOneTrace(_ spans: [CollectedSpan], of id: NotificationID) {
        let publish = "publish securepush.notifications:dispatch"
        let process = "process securepush.notifications:dispatch:securepush.dispatch"
        let read = "GET /api/notifications/{id}"
        let shape = spans.map { span in
            let parent = spans.first { $0.span == span.parent }
            return "\(span.service) \(span.kind) \(span.name) < \(parent.map(\.name) ?? "none")"
        }
        #expect(
            shape.sorted()
                == [
                    "dispatcher CLIENT POST /{hub}/messages/ < \(process)",
                    "dispatcher CLIENT POST /{hub}/messages/ < \(process)",
                    "dispatcher CLIENT POST /{hub}/messages/ < \(process)",
                    "dispatcher CONSUMER \(process) < \(publish)",
                    "ingest PRODUCER \(publish) < POST /api/notifications",
                    "ingest SERVER POST /api/notifications < none",
                    "retrieval SERVER \(read) < POST /api/notifications",
                    "retrieval SERVER \(read) < POST /api/notifications",
                ])
        let sends = spans.filter { $0.kind == "CLIENT" }
        #expect(Set(sends.map { $0.attributes["securepush.platform"] }) == ["apple", "fcmv1", "windows"])
        #expect(sends.allSatisfy { $0.attributes["http.response.status_code"] == "201" })
        #expect(sends.allSatisfy { $0.attributes["url.full"]?.hasSuffix("/hub/messages/") == true })
        for span in spans where ["PRODUCER", "CONSUMER"].contains(span.kind) {
            #expect(span.attributes["messaging.message.id"] == id.description)
            #expect(span.attributes["messaging.system"] == "rabbitmq")
        }
        #expect(spans.allSatisfy { $0.end >= $0.start && $0.status == "UNSET" && !$0.instance.isEmpty })
    }

    private func expectAccessLog(_ service: RunningService, _ method: String, _ span: CollectedSpan) {
        let lines = service.process.standardError.split(separator: "\n").filter { $0.contains("Request answered") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""http.request.method":"\#(method)""#) == true)
        #expect(lines.first?.contains(#""client.address":"127.0.0.1""#) == true)
        #expect(lines.first?.contains(#""trace_id":"\#(span.trace)""#) == true)
        let starts = service.process.standardError.split(separator: "\n").filter { $0.contains(#""body":"Starting""#) }
        #expect(starts.count == 1)
        #expect(starts.first?.contains(#""platforms":"apple,fcmv1,windows""#) == true)
        for member in ["version", "revision", "store", "broker"] {
            #expect(starts.first?.contains("\"\(member)\":\"") == true, "\(member)")
        }
        #expect(starts.first?.contains("guest") == false)
    }

    /// The sender's own trace goes on; a retry is a publish and a process of the same trace.
    @Test func `A retry belongs to the sender's trace`() async throws {
        try await withStack { stack in
            try await withCollector(stack.folder) { collector in
                let settings = [
                    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url + "/v1/traces", "HUB_PLATFORMS": "apple",
                    "RETRY_DELAYS": "1s",
                ]
                let ingest = try await stack.start("ingest", settings)
                let dispatcher = try await stack.start("dispatcher", settings)
                try await expectReady(ingest, dispatcher)
                stack.hub.answer(500)
                let trace = "0af7651916cd43dd8448eb211c80319c"
                let answer = try await ingest.request(
                    .POST, "/api/notifications", bearer: stack.apiKey,
                    headers: ["traceparent": "00-\(trace)-b7ad6b7169203331-01"],
                    body: #"{"Recipient":"alice","Payload":1}"#)
                #expect(answer.status == 201)
                try await expectEventually { stack.hub.sends.count == 1 }
                stack.hub.answer(201)
                try await expectEventually { stack.hub.sends.count >= 2 }
                for service in [ingest, dispatcher] { try await service.drain() }

                let spans = try collector.spans().filter { $0.trace == trace }
                #expect(spans.first { $0.kind == "SERVER" }?.parent == "b7ad6b7169203331")
                let retry = try #require(spans.first { $0.name == "publish securepush.retry.1" })
                let processed = spans.filter { $0.kind == "CONSUMER" }.sorted { $0.start < $1.start }
                let (first, last) = (try #require(processed.first), try #require(processed.last))
                #expect(processed.count >= 2 && retry.parent == first.span)
                #expect(first.attributes["securepush.result"] == "retried")
                #expect(last.attributes["securepush.result"] == "settled" && last.attributes["securepush.retry"] != nil)
                let sends = spans.filter { $0.kind == "CLIENT" }.sorted { $0.start < $1.start }
                #expect(sends.first?.status == "ERROR" && sends.first?.attributes["error.type"] == "500")
                #expect(sends.last?.status == "UNSET" && sends.last?.attributes["http.request.resend_count"] == "1")
            }
        }
    }

    @Test func `Without its collector everything works`() async throws {
        try await withStack { stack in
            let settings = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"]
            let ingest = try await stack.start("ingest", settings)
            let dispatcher = try await stack.start("dispatcher", settings)
            try await expectReady(ingest, dispatcher)
            let ids = try await post(25, to: ingest, stack)
            try await expectEventually { stack.hub.has(ids) }
            for service in [ingest, dispatcher] { try await service.drain() }
        }
    }
}
