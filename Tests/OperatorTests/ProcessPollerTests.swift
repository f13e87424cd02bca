import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Operator

@Suite("The polls of other processes", .timeLimit(.minutes(5)))
struct ProcessPollerTests {
    /// Another process on this machine, which answers `/metrics`.
    private final class OtherProcess: Sendable {
        let hosts = Mutex<[String]>([])
        let port = Mutex(0)
        /// Whether its answer begins and never ends.
        let isEndless: Bool

        init(isEndless: Bool) { self.isEndless = isEndless }

        var body: ResponseBody {
            let text = ByteBuffer(string: "securepush_build_info{version=\"9.9.9\"} 1\n")
            guard isEndless else { return ResponseBody(byteBuffer: text) }
            return ResponseBody { writer in
                try await writer.write(text)
                // Often enough for a timeout that begins anew with every byte.
                while !Task.isCancelled {
                    try await writer.write(ByteBuffer(string: "#\n"))
                    try await Task.sleep(for: .milliseconds(200))
                }
                try await writer.finish(nil)
            }
        }
    }

    /// Polls until the test ends.
    ///
    /// - Parameter targets: the URLs of dispatchers, by the port of the other process.
    private func withPolls(
        isEndless: Bool = false, targets: (Int) -> [String], _ body: (OtherProcess, ProcessTable) async throws -> Void
    ) async throws {
        let other = OtherProcess(isEndless: isEndless)
        let router = Router()
        router.get("/readyz") { _, _ in
            Response(
                status: .serviceUnavailable,
                body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"status":"unready","checks":{"amqp":"down"}}"#)))
        }
        router.get("/metrics") { request, _ in
            other.hosts.withLock { $0.append(request.head.authority ?? "") }
            return Response(status: .ok, body: other.body)
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in other.port.withLock { $0 = channel.localAddress?.port ?? 0 } },
            logger: .silent)
        let listening = Task { try await application.run() }
        defer { listening.cancel() }
        try await expectEventually { other.port.withLock { $0 } != 0 }
        let table = ProcessTable()
        let found = try targets(other.port.withLock { $0 }).map { try #require(ProcessTarget($0)) }
        let poller = ProcessPoller(targets: [.dispatcher: found], metrics: PrometheusMetrics(), table: table)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await poller.run() }
            defer { tasks.cancelAll() }
            try await body(other, table)
        }
    }

    private func dispatchers(_ table: ProcessTable) -> [ProcessTable.Entry] {
        table.entries.filter { $0.kind == .dispatcher }
    }

    @Test func `A name is polled at its address and kept as host`() async throws {
        try await withPolls(targets: { ["http://localhost:\($0)"] }) { other, table in
            try await expectEventually { dispatchers(table).first?.process.window != nil }
            let entry = try #require(dispatchers(table).first)
            let port = other.port.withLock { $0 }
            #expect(entry.address == "http://127.0.0.1:\(port)" && entry.process.version == "9.9.9")
            #expect(entry.process.readiness.state == .unready && entry.process.readiness.down == ["amqp"])
            #expect(other.hosts.withLock { $0.first } == "localhost:\(port)")
            #expect(table.entries.contains { $0.kind == .operator && $0.process.readiness.state == .ready })
        }
    }

    @Test func `An answer that never ends is a problem of that process alone`() async throws {
        try await withPolls(isEndless: true, targets: { ["http://127.0.0.1:\($0)"] }) { _, table in
            try await expectEventually { dispatchers(table).first?.process.readiness.state == .unreachable }
            #expect(table.entries.contains { $0.kind == .operator && $0.process.readiness.state == .ready })
        }
    }

    @Test func `What cannot be reached is named`() async throws {
        // Too long for a name: no resolver is asked.
        let name = "http://\(String(repeating: "a", count: 70)):1"
        try await withPolls(targets: { _ in ["http://127.0.0.1:1", name] }) { _, table in
            try await expectEventually { dispatchers(table).count == 2 }
            let problems = dispatchers(table).map { $0.process.readiness.down.first ?? "" }
            #expect(problems == ["Connection refused.", "The name has no address."])
        }
    }
}
