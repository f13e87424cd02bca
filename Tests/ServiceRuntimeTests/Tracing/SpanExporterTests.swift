import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceConfiguration
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import ServiceRuntime

/// The exporter and a collector that answers as the test says.
@Suite("Export of spans", .timeLimit(.minutes(5)))
struct SpanExporterTests {
    /// Keeps the requests, and answers with the next status: 200 once there is no more.
    private final class Collector: Sendable {
        let requests = Mutex<[(fields: HTTPFields, body: [UInt8])]>([])
        let statuses: Mutex<[HTTPResponse.Status]>
        let answer: String
        /// Whether the body of each answer begins and never ends.
        let isEndless: Bool
        let port = Mutex(0)

        init(_ statuses: [HTTPResponse.Status], answer: String, isEndless: Bool) {
            self.statuses = Mutex(statuses)
            self.answer = answer
            self.isEndless = isEndless
        }

        var body: ResponseBody {
            let bytes = ByteBuffer(string: answer)
            guard isEndless else { return ResponseBody(byteBuffer: bytes) }
            return ResponseBody { writer in
                try await writer.write(bytes)
                try await Task.sleep(for: .seconds(60))
                try await writer.finish(nil)
            }
        }

        var bodies: [[UInt8]] { requests.withLock { $0.map(\.body) } }
        var spans: Int {
            bodies.reduce(0) { $0 + String(decoding: $1, as: UTF8.self).split(separator: "spanId").count - 1 }
        }
    }

    private struct Run {
        let exporter: SpanExporter
        let collector: Collector
        let metrics: PrometheusMetrics
        let tracer: SpanTracer
        let group: ServiceGroup

        func makeSpans(_ count: Int) {
            for _ in 0..<count { tracer.startSpan("span", context: .topLevel).end() }
        }

        func count(_ series: String) -> String? {
            metrics.exposition().split(separator: "\n").first { $0.hasPrefix("securepush_spans_\(series) ") }
                .map { String($0.split(separator: " ").last ?? "") }
        }

        func dropped(_ reason: String) -> String? { count(#"dropped_total{reason="\#(reason)"}"#) }
    }

    /// - Parameters:
    ///   - isEndless: whether the body of each answer never ends.
    ///   - isReachable: whether the collector listens.
    ///   - timeout: of a request.
    private func withExporter(
        _ statuses: [HTTPResponse.Status] = [], answer: String = "{}", isEndless: Bool = false,
        isReachable: Bool = true, timeout: Duration = .seconds(60), _ body: (Run) async throws -> Void
    ) async throws {
        let collector = Collector(statuses, answer: answer, isEndless: isEndless)
        let router = Router()
        router.post("/v1/traces") { request, _ in
            let bytes = Array(buffer: try await request.body.collect(upTo: 1 << 22))
            collector.requests.withLock { $0.append((request.headers, bytes)) }
            let status = collector.statuses.withLock { $0.isEmpty ? .ok : $0.removeFirst() }
            return Response(status: status, body: collector.body)
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in collector.port.withLock { $0 = channel.localAddress?.port ?? 0 } },
            logger: LineSink().logger(level: .error))
        let listening = Task { try await application.run() }
        defer { listening.cancel() }
        try await expectEventually { collector.port.withLock { $0 } != 0 }
        let port = isReachable ? collector.port.withLock { $0 } : 1
        var configuration = TracingConfiguration(url: "http://127.0.0.1:\(port)/v1/traces")
        configuration.headers = [CollectorHeader(name: "api-key", value: "hunter2")]
        configuration.timeout = timeout
        let metrics = PrometheusMetrics()
        let exporter = SpanExporter(
            configuration, service: "ingest", version: "1.2.3", metrics: metrics,
            logger: LineSink().logger(level: .info), firstBackoff: .milliseconds(20))
        let tracer = SpanTracer(sampler: .always(true)) { exporter.receive($0) }
        let group = ServiceGroup(configuration: .init(services: [exporter], logger: LineSink().logger(level: .error)))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let run = Run(exporter: exporter, collector: collector, metrics: metrics, tracer: tracer, group: group)
            do { try await body(run) } catch { Issue.record(error) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `Spans arrive in batches`() async throws {
        try await withExporter { run in
            run.makeSpans(1300)
            try await expectEventually { run.collector.spans == 1300 }
            #expect(run.collector.bodies.count >= 3)
            try await expectEventually { run.count("exported_total") == "1300" }
            let (fields, body) = try #require(run.collector.requests.withLock { $0.first })
            #expect(fields[.contentType] == "application/json")
            #expect(fields[HTTPField.Name(static: "api-key")] == "hunter2")
            // The exporter's own request is no part of a trace.
            #expect(fields[.traceparent] == nil)
            let resource = try #require(try JSONValue(strict: body)["resourceSpans"]?.elements?.first?["resource"])
            let keys = resource["attributes"]?.elements?.compactMap { $0["key"]?.text }
            #expect(keys == ["service.name", "service.namespace", "service.version", "service.instance.id"])
        }
    }

    @Test(arguments: [HTTPResponse.Status.tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout])
    func `What may be tried again is sent again`(_ status: HTTPResponse.Status) async throws {
        try await withExporter([status, status]) { run in
            run.makeSpans(1)
            try await expectEventually { run.collector.bodies.count == 3 }
            #expect(Set(run.collector.bodies).count == 1)
            try await expectEventually { run.count("exported_total") == "1" }
            #expect(run.dropped("refused") == "0" && run.dropped("unreachable") == "0")
        }
    }

    @Test(arguments: [HTTPResponse.Status.badRequest, .unauthorized, .internalServerError])
    func `A refused batch is dropped and counted`(_ status: HTTPResponse.Status) async throws {
        try await withExporter([status]) { run in
            run.makeSpans(1)
            try await expectEventually { run.dropped("refused") == "1" }
            run.makeSpans(1)
            try await expectEventually { run.count("exported_total") == "1" }
            #expect(run.collector.bodies.count == 2)
        }
    }

    @Test func `Spans that the collector leaves out are counted`() async throws {
        try await withExporter(answer: #"{"partialSuccess":{"rejectedSpans":"2"}}"#) { run in
            run.makeSpans(5)
            try await expectEventually {
                run.dropped("rejected").flatMap { Int($0) } ?? 0 >= 2 && run.collector.spans == 5
            }
        }
    }

    /// The deadline of AsyncHTTPClient ends with the head.
    @Test func `An answer that never ends is not waited for`() async throws {
        try await withExporter(isEndless: true, timeout: .milliseconds(500)) { run in
            for count in 1...2 {
                run.makeSpans(1)
                try await expectEventually { run.count("exported_total") == "\(count)" }
            }
            // A busy machine may be late with the head, too; then the batch is sent again.
            #expect(run.collector.spans >= 2)
        }
    }

    @Test func `A collector that is away loses spans and nothing else`() async throws {
        // A connection that fails is tried again until the request's time is over.
        try await withExporter(isReachable: false, timeout: .milliseconds(200)) { run in
            run.makeSpans(3)
            try await expectEventually { run.dropped("unreachable").flatMap { Int($0) } ?? 0 > 0 }
        }
    }

    @Test func `The queue is bounded`() {
        let metrics = PrometheusMetrics()
        let exporter = SpanExporter(
            TracingConfiguration(url: "http://127.0.0.1:1/v1/traces"), service: "x", version: "1", metrics: metrics,
            logger: LineSink().logger(level: .info))
        let tracer = SpanTracer(sampler: .always(true)) { exporter.receive($0) }
        for _ in 0..<(SpanExporter.Limit.maxQueued + 7) { tracer.startSpan("span", context: .topLevel).end() }
        #expect(metrics.exposition().contains(#"securepush_spans_dropped_total{reason="queue"} 7"#))
    }

    @Test func `The rest is sent at shutdown`() async throws {
        var run: Run?
        try await withExporter { started in
            run = started
            // The first batch is followed by a pause, in which the shutdown finds the others.
            started.makeSpans(1)
            try await expectEventually { started.collector.spans == 1 }
            started.makeSpans(700)
        }
        #expect(run?.collector.spans == 701)
        #expect(run?.count("exported_total") == "701" && run?.dropped("shutdown") == "0")
    }

    @Test func `A shutdown without a collector ends soon and counts the rest`() async throws {
        var run: Run?
        try await withExporter([HTTPResponse.Status](repeating: .serviceUnavailable, count: 99)) { started in
            run = started
            started.makeSpans(600)
        }
        let total = ["shutdown", "unreachable"].compactMap { run?.dropped($0) }.compactMap { Int($0) }.reduce(0, +)
        #expect(total == 600)
    }
}
