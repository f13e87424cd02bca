import AsyncHTTPClient
import CoreMetrics
import Domain
import Foundations
import Logging
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import ServiceConfiguration
import ServiceLifecycle
import Synchronization

/// Posts finished spans to an OpenTelemetry collector in batches: OTLP/HTTP in JSON (OTLP 1.x).
///
/// A span that ends is left in a queue, and nothing that serves a request waits. When the collector is away or slow,
/// the queue fills, and further spans are dropped and counted. At shutdown, after all other parts have stopped, the
/// queue is sent once more within a few seconds.
///
/// Decision: docs/decisions/0022-make-or-buy.md
final class SpanExporter: Service {
    /// Why spans were dropped: the label `reason` of `securepush_spans_dropped_total`.
    enum Drop: String, CaseIterable {
        /// The queue was full.
        case queue
        /// The collector was away for too long.
        case unreachable
        /// The collector refused the request.
        case refused
        /// The collector took the request without these spans.
        case rejected
        /// The process ended first.
        case shutdown
    }

    enum Limit {
        /// Spans that wait: less than 20 MB.
        static let maxQueued = 16_384
        /// Spans of one request: about 400 KB.
        static let batch = 512
        /// How long spans are collected for one request, unless there are enough for one.
        static let interval = Duration.seconds(1)
        /// Requests for one batch.
        static let maxAttempts = 5
        static let firstBackoff = Duration.seconds(1)
        static let maxBackoff = Duration.seconds(30)
        /// How long the rest may take at shutdown.
        static let flush = Duration.seconds(3)
        /// How long a shutdown waits for the answer to the request in flight.
        static let grace = Duration.seconds(1)
        /// Bytes of an answer that are read.
        static let maxAnswer = 65_536
    }

    private enum Outcome {
        case accepted(OTLPAnswer)
        case refused(String)
        /// To be sent again.
        case failed(String, retryAfter: Duration?)
    }

    private let configuration: TracingConfiguration
    private let resource: [(String, String)]
    private let version: String
    private let logger: Logger
    private let queue = Mailbox<FinishedSpan>()
    private let exported: Counter
    private let dropped: [Drop: Counter]
    private let problem = LastingProblemLog("Spans cannot be exported", end: "Spans are exported again")
    private let firstBackoff: Duration

    /// - Parameters:
    ///   - firstBackoff: the wait after the first failure; tests shorten it.
    init(
        _ configuration: TracingConfiguration, service: String, version: String, metrics: PrometheusMetrics,
        logger: Logger, firstBackoff: Duration = Limit.firstBackoff
    ) {
        self.configuration = configuration
        self.version = version
        self.logger = logger
        self.firstBackoff = firstBackoff
        resource = [
            ("service.name", configuration.serviceName ?? service), ("service.namespace", "securepush"),
            ("service.version", version), ("service.instance.id", NotificationID().description),
        ]
        exported = Metric.spansExported.counter(in: metrics)
        dropped = Metric.spansDropped.counters(Drop.allCases, in: metrics)
    }

    /// Queues a span, or drops it if the queue is full. Returns at once.
    func receive(_ span: FinishedSpan) {
        guard queue.count < Limit.maxQueued else { return drop(1, .queue) }
        if !queue.put(span) { drop(1, .shutdown) }
    }

    private func drop(_ count: Int, _ reason: Drop) {
        if count > 0 { dropped[reason]?.increment(by: count) }
    }

    /// Sends batches until a graceful shutdown, then sends the rest.
    func run() async {
        var settings = HTTPClient.Configuration(
            tlsConfiguration: OutgoingTLS.configuration(trusting: configuration.outgoing.authorities),
            redirectConfiguration: .disallow)
        settings.proxy = configuration.outgoing.proxy(to: configuration.url)?.setting
        settings.timeout = .init(connect: .seconds(5))
        // The exporter's own requests are no spans.
        settings.tracing.tracer = nil
        do {
            try await HTTPClient.withHTTPClient(configuration: settings) { await send($0) }
        } catch {
            // Only closing the connections can fail, and that must not fail the service.
            logger.debug("The connections to the collector broke", metadata: [LogKeys.errorType: "\(type(of: error))"])
        }
    }

    private func send(_ client: HTTPClient) async {
        let unsent = Mutex<[FinishedSpan]>([])
        await cancelWhenGracefulShutdown {
            while let batch = await self.queue.take(limit: Limit.batch) {
                guard await self.deliver(batch, client) else { return unsent.withLock { $0 = batch } }
                if self.queue.count < Limit.batch { try? await Task.sleep(for: Limit.interval) }
                if Task.isCancelled { return }
            }
        }
        queue.close()
        await flush(unsent.withLock { $0 }, client)
    }

    /// Sends the remaining spans, for a limited time.
    private func flush(_ first: [FinishedSpan], _ client: HTTPClient) async {
        let total = first.count + queue.count
        let sent = await withTaskGroup(of: Int.self) { group in
            group.addTask { await self.sendRest(first, client) }
            group.addTask {
                try? await Task.sleep(for: Limit.flush)
                return 0
            }
            let sent = await group.next() ?? 0
            group.cancelAll()
            return await group.reduce(sent, +)
        }
        drop(total - sent, .shutdown)
    }

    /// - Returns: the number of spans that were sent, or dropped and counted, before the task was cancelled.
    private func sendRest(_ first: [FinishedSpan], _ client: HTTPClient) async -> Int {
        var count = 0
        var next = first.isEmpty ? await queue.take(limit: Limit.batch) : first
        while let batch = next, !Task.isCancelled, await deliver(batch, client) {
            count += batch.count
            next = await queue.take(limit: Limit.batch)
        }
        return count
    }

    /// Sends one batch, several times if it must be.
    ///
    /// - Returns: `false` if the task was cancelled first. Otherwise the batch was sent, or dropped and counted.
    private func deliver(_ spans: [FinishedSpan], _ client: HTTPClient) async -> Bool {
        let body = OTLPTraces.json(spans, resource: resource, version: version)
        var backoff = firstBackoff
        for attempt in 1...Limit.maxAttempts {
            let outcome = await finish { await self.post(body, batch: spans.count, client) }
            if Task.isCancelled, case .failed = outcome { return false }
            switch outcome {
            case .accepted(let answer):
                exported.increment(by: spans.count - answer.rejectedSpans)
                drop(answer.rejectedSpans, .rejected)
                problem.succeeded(to: logger)
                return true
            case .refused(let reason):
                problem.failed(reason, to: logger)
                drop(spans.count, .refused)
                return true
            case .failed(let reason, let retryAfter):
                problem.failed(reason, to: logger)
                guard attempt < Limit.maxAttempts else { break }
                // Half of it is random, so that services do not come back together.
                let wait = retryAfter ?? backoff * Double.random(in: 0.5...1)
                try? await Task.sleep(for: min(wait, Limit.maxBackoff))
                if Task.isCancelled { return false }
                backoff = min(backoff * 2, Limit.maxBackoff)
            }
        }
        drop(spans.count, .unreachable)
        return true
    }

    /// Runs a request. A shutdown does not interrupt it at once: the collector may have the batch, and would get it
    /// twice.
    private func finish(_ post: @escaping @Sendable () async -> Outcome) async -> Outcome {
        let request = Task { await post() }
        return await withTaskCancellationHandler {
            await request.value
        } onCancel: {
            Task {
                try? await Task.sleep(for: Limit.grace)
                request.cancel()
            }
        }
    }

    private func post(_ body: [UInt8], batch: Int, _ client: HTTPClient) async -> Outcome {
        var request = HTTPClientRequest(url: configuration.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "user-agent", value: "securepush/\(version)")
        for field in configuration.headers { request.headers.replaceOrAdd(name: field.name, value: field.value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let limit = TimeAmount.milliseconds(configuration.timeout.milliseconds)
            let response = try await client.execute(request, deadline: .now() + limit)
            // The head says whether the spans were accepted. A body that is too long or too slow is not waited for.
            let text = try? await response.body.collect(upTo: Limit.maxAnswer, within: configuration.timeout)
            switch response.status.code {
            case 200..<300: return .accepted(OTLPAnswer(json: text.map { Array(buffer: $0) } ?? [], batch: batch))
            // Those that the protocol allows to try again.
            case 429, 502, 503, 504:
                let after = response.headers.first(name: "retry-after").flatMap { Int($0) }
                return .failed(
                    "the collector answered \(response.status.code)",
                    retryAfter: after.map { .seconds(min(max($0, 0), 3600)) })
            default: return .refused("the collector answered \(response.status.code)")
            }
        } catch {
            // The text of an error could hold an address with more than the host.
            return .failed("the collector did not answer (\(type(of: error)))", retryAfter: nil)
        }
    }
}
