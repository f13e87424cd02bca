import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import StackKit
import TestSupport
import Testing

/// What becomes of services when clients take more than there is.
@Suite("Running out of descriptors", .serialized, .broker, .timeLimit(.minutes(5)))
struct ExhaustionTests {
    /// Before: dead within a second with the broker down, and within half a minute with it up.
    @Test(arguments: ["ingest", "retrieval", "dispatcher"], [true, false])
    func `More connections than descriptors harm nobody`(_ name: String, isBrokerUp: Bool) async throws {
        try await withStack { stack in
            // Nobody listens on port 1: each try to connect takes descriptors and gives them back.
            let broker = isBrokerUp ? [:] : ["AMQP_URL": "amqp://guest:guest@127.0.0.1:1/%2F"]
            let service = try await stack.start(name, broker, descriptors: 256)
            let silent = try await connect(300, to: service.port)
            for _ in 0..<20 {
                #expect(try await service.request(.GET, "/livez").status == 200)
                #expect(service.process.isRunning)
            }
            let metrics = try await service.request(.GET, "/metrics").body
            #expect(metrics.contains(#"securepush_http_connections_closed_total{reason="evicted"} "#))
            #expect(!metrics.contains(#"securepush_http_connections_closed_total{reason="evicted"} 0"#))
            for connection in silent { try? await connection.close() }
            #expect(try await eventually { try await held(by: service) < 10 })
            try await service.drain()
        }
    }

    @Test func `An ingest under them still stores and publishes`() async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest", descriptors: 256)
            try await expectReady(ingest)
            let silent = try await connect(300, to: ingest.port)
            _ = try await ingest.post("1", to: "alice", stack)
            #expect(try await eventually { try await published(by: ingest) == 1 })
            for connection in silent { try? await connection.close() }
            _ = try await ingest.post("2", to: "alice", stack)
            #expect(try await eventually { try await published(by: ingest) == 2 })
            try await ingest.drain()
        }
    }

    #if os(Linux)
    /// An operator, or another limit than ours, leaves no descriptor for a connection: NIO alone would spin then.
    @Test func `Without a descriptor for a connection it waits and does not spin`() async throws {
        try await withStack { stack in
            let retrieval = try await stack.start("retrieval", descriptors: 1024)
            try await setDescriptors(of: retrieval.process, to: 10)
            let waiting = try await connect(20, to: retrieval.port)
            let isTold = try await eventually {
                retrieval.process.standardError.contains("Connections cannot be accepted and wait in the kernel")
            }
            #expect(isTold)
            let before = try ticks(of: retrieval.process)
            // Time is what is measured here: a process that spins takes 100 ticks of each second that it gets.
            try await Task.sleep(for: .seconds(3))
            let used = try ticks(of: retrieval.process) - before
            #expect(used < 100, "\(used) ticks in 3 s")
            try await setDescriptors(of: retrieval.process, to: 1024)
            #expect(try await retrieval.request(.GET, "/livez").status == 200)
            for connection in waiting { try? await connection.close() }
            try await retrieval.drain()
        }
    }

    private func setDescriptors(of process: ProcessUnderTest, to limit: Int) async throws {
        try await run("prlimit", ["--pid", "\(process.id)", "--nofile=\(limit):1024"])
    }

    /// Hundredths of a second of processor time, of the user's and the system's side (proc(5)).
    private func ticks(of process: ProcessUnderTest) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.id)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last?.split(separator: " ").map(String.init) ?? []
        return try #require(Int(fields[11])) + #require(Int(fields[12]))
    }
    #endif

    @Test func `A hang-up ends no service`() async throws {
        try await withStack { stack in
            for name in ["ingest", "retrieval", "dispatcher"] {
                let service = try await stack.start(name)
                for _ in 0..<3 { service.process.hangUp() }
                #expect(try await service.request(.GET, "/livez").status == 200)
                #expect(service.process.isRunning)
                try await service.drain()
            }
        }
    }

    /// Connections that say nothing. Some may be closed by the service already.
    private func connect(_ count: Int, to port: Int) async throws -> [any Channel] {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        var channels: [any Channel] = []
        for _ in 0..<count { channels.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get()) }
        return channels
    }

    private func held(by service: RunningService) async throws -> Double {
        try await figure("securepush_http_connections ", of: service) ?? .infinity
    }

    private func published(by service: RunningService) async throws -> Double {
        try await figure("securepush_outbox_published_total ", of: service) ?? 0
    }

    private func figure(_ name: String, of service: RunningService) async throws -> Double? {
        let lines = try await service.request(.GET, "/metrics").body.split(separator: "\n")
        return lines.first { $0.hasPrefix(name) }.flatMap { Double($0.dropFirst(name.count)) }
    }
}
