import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Synchronization
import Testing

@testable import ServiceRuntime

@Suite("What operators ask every service")
struct OperationsTests {
    private static let up = ReadinessCheck(name: "database") { nil }
    private static let databaseDown = ReadinessCheck(name: "database") { "connection \"refused\"" }
    private static let brokerDown = ReadinessCheck(name: "amqp", isRequired: false) { "away" }

    private func get(_ path: String, _ checks: [ReadinessCheck] = []) async throws -> TestResponse {
        let context = ServiceContext.test()
        return try await withApplication(
            context: context, routes: { $0.addOperations(readiness: checks, context: context) }
        ) { try await $0.execute(uri: path, method: .get) }
    }

    /// A proxy refuses `/metrics` by an exact rule.
    @Test(
        arguments: [
            "//metrics", "/metrics/", "/metrics//", "///metrics", "/readyz/", "//readyz//", "/version/", "//livez",
            "/%2fmetrics", "/%6detrics", "/metrics%2f", "/./metrics", "/x/../metrics", "/metrics%20", "/Metrics",
            "/metrics/.", "/metrics;x", "//version/?x=1",
        ], [HTTPRequest.Method.get, .head, .post, .delete])
    func `Other spellings do not exist`(path: String, method: HTTPRequest.Method) async throws {
        let context = ServiceContext.test()
        try await withApplication(
            context: context, routes: { $0.addOperations(readiness: [], context: context) }
        ) { client in
            let answer = try await client.execute(uri: path, method: method)
            #expect(answer.status == .notFound)
            // They are requests like any other.
            context.requests.setLimit(0)
            let refused = try await client.execute(uri: path, method: method)
            #expect(refused.status == .serviceUnavailable)
            let plain = try await client.execute(uri: "/metrics?x=1", method: .get)
            #expect(plain.status == .ok)
        }
    }

    @Test func `The path livez touches nothing`() async throws {
        let response = try await get(
            "/livez",
            [
                ReadinessCheck(name: "database") {
                    Issue.record("asked")
                    return nil
                }
            ])
        #expect(response.status == .ok)
    }

    @Test(
        arguments: [
            ([], 200, #"{"status":"ready","checks":{}}"#),
            ([up], 200, #"{"status":"ready","checks":{"database":"up"}}"#),
            (
                [up, brokerDown], 200,
                #"{"status":"ready","checks":{"database":"up","amqp":"down"},"reasons":{"amqp":"away"},"amqp":"down"}"#
            ),
            (
                [databaseDown, brokerDown], 503,
                #"{"status":"unready","checks":{"database":"down","amqp":"down"},"#
                    + #""reasons":{"database":"connection \"refused\"","amqp":"away"},"database":"down","amqp":"down"}"#
            ),
        ] as [([ReadinessCheck], Int, String)])
    func `The path readyz tells the state of each part`(checks: [ReadinessCheck], code: Int, body: String) async throws
    {
        let response = try await get("/readyz", checks)
        #expect(response.status.code == code)
        #expect(response.headers[.contentType] == "application/json")
        #expect(String(buffer: response.body) == body)
    }

    @Test func `Files that cannot be used are named`() async throws {
        let context = ServiceContext.test()
        let reloads = Mutex<[String]>([])
        let sources = [("AUTH_USERS_FILE", "It is gone. Access is denied."), ("PAYLOAD_KEYS_FILE", nil)].map {
            (key: String, problem: String?) in
            ReloadableSource(key: key, problem: { problem }, reload: { reloads.withLock { $0.append(key) } })
        }
        let check = context.watch(sources)
        let report = await ReadinessReport.collect([check])
        #expect(
            String(decoding: report.json(), as: UTF8.self) == #"{"status":"ready","checks":{"files":"down"},"#
                + #""reasons":{"files":"AUTH_USERS_FILE: It is gone. Access is denied."},"files":"down"}"#)
        let metrics = context.metrics.exposition()
        #expect(metrics.contains("securepush_file_unusable{file=\"AUTH_USERS_FILE\"} 1\n"))
        #expect(metrics.contains("securepush_file_unusable{file=\"PAYLOAD_KEYS_FILE\"} 0\n"))
        await context.reload()
        #expect(reloads.withLock { $0 } == ["AUTH_USERS_FILE", "PAYLOAD_KEYS_FILE"])
    }

    @Test func `Details follow the parts`() async {
        let report = await ReadinessReport.collect([Self.up, Self.brokerDown])
        let details = [
            ReadinessDetail(name: "outbox") { [("pending", 3), ("oldest_age_seconds", 0)] },
            ReadinessDetail(name: "unknown") { nil },
        ]
        #expect(
            String(decoding: report.json(details), as: UTF8.self)
                == #"{"status":"ready","checks":{"database":"up","amqp":"down"},"reasons":{"amqp":"away"},"#
                + #""amqp":"down","outbox":{"pending":3,"oldest_age_seconds":0}}"#)
    }

    @Test(.timeLimit(.minutes(5))) func `Checks have a deadline`() async {
        let slow = ReadinessCheck(name: "slow") {
            try? await Task.sleep(for: .seconds(3600))
            return nil
        }
        // Long enough for the third on a busy machine.
        let report = await ReadinessReport.collect([slow, slow, Self.up], deadline: .seconds(3))
        #expect(report.parts.map(\.reason) == ["no answer within 3s", "no answer within 3s", nil])
        #expect(!report.isReady)
    }

    @Test func `Checks run at the same time`() async {
        // Each waits for the other: one after the other would never end before the deadline.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let waits = ReadinessCheck(name: "waits") {
            for await _ in stream { return nil }
            return "alone"
        }
        let signals = ReadinessCheck(name: "signals") {
            continuation.yield()
            return nil
        }
        let report = await ReadinessReport.collect([waits, signals], deadline: .seconds(20))
        #expect(report.isReady)
    }

    @Test func `The path version tells name and versions`() async throws {
        let response = try await get("/version")
        let document = try JSONDecoder().decode([String: String].self, from: Data(response.body.readableBytesView))
        let version = SecurePushVersion.current
        #expect(document == ["Name": "test", "Version": version, "Swift": SecurePushVersion.swift])
    }

    @Test func `The path metrics tells build and process`() async throws {
        let response = try await get("/metrics")
        #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        let text = String(buffer: response.body)
        #expect(
            text.contains(
                #"securepush_build_info{revision="\#(SecurePushVersion.revision)",service="test","#
                    + #"swift="\#(SecurePushVersion.swift)",version="\#(SecurePushVersion.current)"} 1"#))
        #if os(Linux)
        #expect(text.contains("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total "))
        let resident = try #require(ProcessMetrics.residentBytes())
        #expect(resident > 1_000_000 && resident < 10_000_000_000)
        let start = try #require(ProcessMetrics.startTime())
        let age = Date().timeIntervalSince1970 - start
        #expect(age > -2 && age < 86_400)
        #endif
    }

    @Test func `Many questions ask the parts once a second`() async {
        let time = Mutex(ContinuousClock.now)
        let asked = Mutex(0)
        let cache = ReadinessCache(now: { time.withLock { $0 } }) {
            asked.withLock { $0 += 1 }
            return ReadinessReport(parts: [])
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = await cache.report() } }
        }
        #expect(asked.withLock { $0 } == 1)
        time.withLock { $0 += .milliseconds(999) }
        _ = await cache.report()
        #expect(asked.withLock { $0 } == 1)
        time.withLock { $0 += .milliseconds(1) }
        _ = await cache.report()
        #expect(asked.withLock { $0 } == 2)
    }
}
