import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import PushServices
import ServiceRuntime
import StackKit
import Storage
import TestSupport
import Testing

@testable import Hub

/// The spans of sends and pushes.
@Suite struct PushSpanTests {
    private static let caller = TraceContext.random(isSampled: true)

    private func withHub(
        _ test: @escaping @Sendable (Emulator, ScriptedConnector, SpanTable) async throws -> Void
    ) async throws {
        let (connector, spans) = (ScriptedConnector(), SpanTable())
        try await withEmulator(pushers: DeliveryBench.pushers(connector), tellsOutcomes: true, spans: spans) { hub in
            for handle in ["aa", "bb"] { try await hub.register(handle, tags: "t") }
            try await test(hub, connector, spans)
        }
    }

    private func send(_ hub: Emulator, headers: HTTPFields = [:]) async throws -> TestResponse {
        var headers = headers
        headers[HTTPField.Name(static: "traceparent")] = Self.caller.traceparent
        return try await hub.send(tags: "t", headers: headers)
    }

    private func traced(_ push: Push, _ trace: TraceContext = caller) -> Push {
        var push = push
        push.traceparent = trace.traceparent
        return push
    }

    @Test func `The pushes of a send to one platform are a span below its request`() async throws {
        try await withHub { hub, connector, spans in
            connector.plan("BB", .answer(.gone(since: nil)))
            let sent = try await send(hub)
            let request = try #require(spans.named("POST /{hub}/messages").last)
            #expect(request.trace.traceID == Self.caller.traceID && request.parentSpanID == Self.caller.spanID)
            let push = try #require(spans.named("push apple").first)
            #expect(spans.named("push apple").count == 1 && push.isChild(of: request) && !push.hasFailed)
            let id = try #require(sent.headers[.location]?.between("/messages/", "?"))
            #expect("\(push.kind)" == "client")
            #expect(
                push.texts == [
                    "securepush.hub": "hub", "securepush.platform": "apple", "securepush.hub_message_id": id,
                    "securepush.devices": "2", "securepush.outcome": "Success=1, ExpiredChannel=1",
                ])
            for text in ["AA", "BB", "tags", "aps"] { #expect(!push.texts.values.contains { $0.contains(text) }) }
        }
    }

    @Test func `They are below its request by the direct route as well`() async throws {
        let spans = SpanTable()
        try await withEmulator(.live, pushers: DeliveryBench.pushers(ScriptedConnector()), spans: spans) { hub in
            try await hub.register("aa", tags: "t")
            let send = RawSend(headers: ["traceparent: \(Self.caller.traceparent)"])
            #expect(try await RawExchange.send(send.text, port: hub.port).status == 201)
            try await expectToHold { !spans.named("POST /{hub}/messages").isEmpty }
            let request = try #require(spans.named("POST /{hub}/messages").first)
            #expect(request.parentSpanID == Self.caller.spanID)
            #expect(try #require(spans.named("push apple").first).isChild(of: request))
        }
    }

    @Test func `A send that is refused has failed`() async throws {
        try await withHub { hub, connector, spans in
            connector.answerAll(.answer(.throttled(after: .seconds(5))))
            #expect(try await send(hub).status == .tooManyRequests)
            let push = try #require(spans.named("push apple").first)
            #expect(push.hasFailed && push.texts["error.type"] == "throttled")
            #expect(push.texts["securepush.outcome"] == "Unknown=2")
        }
    }

    @Test func `A scheduled send goes on in the trace of its request`() async throws {
        try await withHub { hub, _, spans in
            let sent = try await hub.send(
                tags: "t",
                headers: [
                    HubHeaders.scheduleTime: "2026-01-31T10:00:00",
                    HTTPField.Name(static: "traceparent"): Self.caller.traceparent,
                ], uri: "/hub/schedulednotifications?api-version=2020-06")
            #expect(sent.status == .created && spans.named("push apple").isEmpty)
            #expect(try await hub.deliverSchedules(at: .now) == 1)
            let request = try #require(spans.named("POST /{hub}/schedulednotifications").last)
            #expect(try #require(spans.named("push apple").first).isChild(of: request))
        }
    }

    /// Also by another process, which knows the trace from the store.
    @Test func `A push that is tried again goes on in the trace`() async throws {
        try await withTables { store in
            let (clock, spans) = (StandingClock(), SpanTable())
            let bench = DeliveryBench(store.tables, clock: clock)
            bench.connector.answerAll(.answer(.failed(after: .seconds(1))))
            let push = traced(bench.push("a"))
            try await bench.send(push)
            let next = DeliveryBench(store.tables, clock: clock, tracer: spans.tracer())
            next.connector.plan("a", .answer(.unreachable))
            for _ in 0..<2 { try await next.sweep(after: .seconds(10)) }
            let tries = spans.named("push apple")
            #expect(tries.map(\.parentSpanID) == [Self.caller.spanID, Self.caller.spanID])
            #expect(tries.map { $0.texts["http.request.resend_count"] } == ["1", "2"])
            #expect(tries.map(\.hasFailed) == [true, false])
            #expect(tries.map { $0.texts["error.type"] } == ["unreachable", nil])
            #expect(tries.last?.texts["securepush.outcome"] == "Success")
        }
    }

    @Test func `An answer after the time of the send has a span of its own`() async throws {
        try await withTables { store in
            let (clock, spans) = (StandingClock(), SpanTable())
            let bench = DeliveryBench(store.tables, clock: clock, tracer: spans.tracer())
            bench.connector.plan("a", .silence)
            let push = traced(bench.push("a"))
            async let outcomes = bench.send([push])
            try await expectToHold { bench.isAlone(silent: 1) }
            clock.advance(by: .seconds(2))
            #expect(try await outcomes == [.unknown])
            bench.connector.end("a", .accepted)
            await bench.delivery.inFlight.waitUntilNone()
            #expect(spans.named("push apple").map { $0.texts["securepush.outcome"] } == ["Unknown", "Success"])
        }
    }

    @Test func `Without a trace there is no span`() async throws {
        try await withTables { store in
            let spans = SpanTable()
            let bench = DeliveryBench(store.tables, tracer: spans.tracer())
            try await bench.send(bench.push("a"), traced(bench.push("b"), TraceContext.random()))
            #expect(spans.spans.isEmpty && bench.connector.handles.count == 2)
        }
    }
}
