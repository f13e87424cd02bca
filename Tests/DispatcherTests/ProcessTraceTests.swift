import Domain
import Foundations
import StackKit
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import Dispatcher

@Suite("Spans of processed messages")
struct ProcessTraceTests {
    /// A hub that keeps what each send is traced with.
    private final class TracedGateway: PushGateway {
        let sends = Mutex<[(platform: Platform, trace: PushTrace?)]>([])
        let base: FakeGateway

        init(_ base: FakeGateway) { self.base = base }

        func send(
            _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
        ) {
            sends.withLock { $0.append((notification.platform, trace)) }
            base.send(notification, trace: nil, completion: completion)
        }

        func stop(within duration: Duration) { base.stop(within: duration) }
    }

    private struct Run {
        var sends: [(platform: Platform, trace: PushTrace?)]
        var published: [(message: DispatchMessage, route: DispatchRoute)]
        var spans: [FinishedSpan]
    }

    private let bench = DispatchBench()
    private var store: any Store { bench.store }
    private let message = TraceContext.random(isSampled: true)

    private func stored(remind: [Duration] = []) async throws -> NotificationID {
        try await bench.stored {
            ($0.sender, $0.platforms, $0.remind) = ("clinic", [.apple], remind)
            $0.traceparent = message.traceparent
        }
    }

    private func dispatch(
        _ message: DispatchMessage, answers: [SendOutcome] = [],
        sampler: SpanSampler = .parentOr(true), refusesPublishes: Bool = false
    ) async throws -> Run {
        let (book, broker) = (SpanTable(), FakeBroker())
        if refusesPublishes { broker.refusePublishes() }
        let gateway = TracedGateway(FakeGateway([.apple: answers]))
        let policy = DispatchPolicy(
            platforms: [.apple], maxAttempts: 2, retryDelays: RetryDelays([.seconds(1)]), withdrawals: .revoked)
        let tracing = ProcessTracing(tracer: book.tracer(sampler), destination: "x:dispatch:q", routingKey: "dispatch")
        try await bench.with { ($0.broker, $0.policy, $0.tracing) = (broker, policy, tracing) }
            .dispatch([message], gateway)
        return Run(sends: gateway.sends.withLock { $0 }, published: broker.record.published, spans: book.spans)
    }

    @Test func `A push is below its message and above its sends`() async throws {
        let id = try await stored()
        let run = try await dispatch(DispatchMessage(id: id, traceparent: message.traceparent))
        let span = try #require(run.spans.first)
        #expect(run.spans.count == 1 && span.name == "process x:dispatch:q" && span.kind == .consumer)
        #expect(span.trace.traceID == message.traceID && span.parentSpanID == message.spanID && !span.hasFailed)
        #expect(span.texts["messaging.message.id"] == id.description)
        #expect(span.texts["messaging.rabbitmq.message.delivery_tag"] == "1")
        #expect(span.texts["messaging.rabbitmq.destination.routing_key"] == "dispatch")
        #expect(span.texts["securepush.work"] == "push" && span.texts["securepush.result"] == "settled")
        #expect(!"\(span)".contains("alice"))
        #expect(run.sends.map(\.trace?.parent) == [span.trace] && run.sends[0].trace?.resendCount == 0)
    }

    @Test func `A retry is below the attempt that failed`() async throws {
        let id = try await stored()
        let failure = SendOutcome.unavailable(reason: "503", retryAfter: nil)
        let first = try await dispatch(
            DispatchMessage(id: id, traceparent: message.traceparent), answers: [failure])
        #expect(first.spans.first?.texts["securepush.result"] == "retried" && first.spans.first?.hasFailed == false)
        let retry = try #require(first.published.first?.message)
        #expect(retry.traceparent == first.spans.first?.trace.traceparent)
        let second = try await dispatch(retry, answers: [failure])
        let span = try #require(second.spans.first)
        #expect(span.parentSpanID == first.spans.first?.trace.spanID && span.texts["securepush.retry"] == "1")
        #expect(second.sends.first?.trace?.resendCount == 1)
        // The last attempt failed.
        #expect(span.hasFailed && span.texts["error.type"] == "dead_lettered")
        #expect(second.published.map(\.message.traceparent) == [span.trace.traceparent])
    }

    @Test func `A reminder has a span`() async throws {
        let id = try await stored(remind: [.seconds(60)])
        _ = try await dispatch(DispatchMessage(id: id, traceparent: message.traceparent))
        let due = try await store.leaseFollowUps(limit: 9, now: .now + .seconds(65))
        #expect(due.map(\.traceparent) == [message.traceparent])
        let run = try await dispatch(
            DispatchMessage(id: id, traceparent: due.first?.traceparent, kind: .reminder))
        #expect(run.spans.map { $0.texts["securepush.work"] } == ["remind"])
        #expect(run.spans.first?.parentSpanID == message.spanID)
    }

    @Test func `What is not sent has a span too`() async throws {
        let unknown = try await dispatch(DispatchMessage(id: NotificationID(), traceparent: message.traceparent))
        #expect(unknown.sends.isEmpty && unknown.spans.map { $0.texts["securepush.result"] } == ["settled"])
        let id = try await stored()
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        let revoked = try await dispatch(DispatchMessage(id: id, traceparent: message.traceparent))
        #expect(revoked.sends.isEmpty && revoked.spans.count == 1)
    }

    @Test func `A message that goes back is an error`() async throws {
        let id = try await stored()
        let run = try await dispatch(
            DispatchMessage(id: id, traceparent: message.traceparent),
            answers: [.rejected(reason: "400", status: 400)], refusesPublishes: true)
        #expect(run.spans.count == 1 && run.spans[0].texts["error.type"] == "requeued")
    }

    @Test func `A message without a trace uses that of its notification`() async throws {
        let id = try await stored()
        let run = try await dispatch(DispatchMessage(id: id))
        #expect(run.spans.first?.trace.traceID == message.traceID)
    }

    @Test func `What is not sampled costs no span`() async throws {
        let id = try await stored()
        let run = try await dispatch(DispatchMessage(id: id, traceparent: message.traceparent), sampler: .always(false))
        #expect(run.spans.isEmpty && run.sends.map { $0.trace == nil } == [true])
    }
}
