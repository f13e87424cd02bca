import Domain
import Foundation
import GRDB
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// What becomes of notifications when a process dies or stands still in the middle of its work.
@Suite("Processes that die or stand still", .serialized, .broker, .timeLimit(.minutes(5)))
struct ProcessFaultTests {
    @Test func `What a killed ingest has accepted is delivered`() async throws {
        try await withStack { stack in
            let first = try await stack.start("ingest")
            try await expectReady(first)
            let accepted = try await withThrowingTaskGroup(of: [NotificationID].self) { group in
                for _ in 0..<8 { group.addTask { await postUntilRefused(first, stack) } }
                group.addTask {
                    let isInFlight = try await eventually { try await accepts(first, 100) }
                    #expect(isInFlight)
                    first.process.kill()
                    return []
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(accepted.count >= 90)
            let second = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            #expect(try await eventually { stack.hub.has(accepted) })
            for service in [second, dispatcher] { try await service.drain() }
        }
    }

    @Test func `What a killed dispatcher was sending is sent by another`() async throws {
        try await withStack(hubLatency: .milliseconds(30)) { stack in
            let ingest = try await stack.start("ingest")
            let settings = ["DISPATCH_CONCURRENCY": "8", "DISPATCH_PREFETCH": "64"]
            let first = try await stack.start("dispatcher", settings)
            try await expectReady(ingest, first)
            let ids = try await post(100, to: ingest, stack)
            #expect(try await eventually { stack.hub.sends.count >= 30 })
            first.process.kill()
            // The test is of no use when the first has done it all.
            #expect(!stack.hub.has(ids))
            let second = try await stack.start("dispatcher", settings)
            #expect(try await eventually { stack.hub.has(ids) })
            #expect(try await eventually { try await stack.areDispatched(ids, ingest) })
            for service in [ingest, second] { try await service.drain() }
            // Sent again is only what was under way, or not yet on record, when the first died.
            #expect(stack.hub.sends.count <= 300 + 3 * 64)
        }
    }

    /// A dispatcher that stands still for longer than its heartbeat has lost its deliveries to another. What it still
    /// knows when it goes on is of an older attempt, and must not replace what the other has put on record.
    @Test func `A dispatcher that stood still overwrites nothing`() async throws {
        try await withStack(hubLatency: .milliseconds(50)) { stack in
            let ingest = try await stack.start("ingest")
            let settings = [
                "DISPATCH_CONCURRENCY": "4", "DISPATCH_PREFETCH": "64", "AMQP_URL": stack.broker.url + "?heartbeat=1",
            ]
            let first = try await stack.start("dispatcher", settings)
            try await expectReady(ingest, first)
            let ids = try await post(50, to: ingest, stack)
            #expect(try await eventually { stack.hub.sends.count >= 10 })
            try await stack.pauseOutsideTransaction(first.process)
            #expect(!stack.hub.has(ids))
            let second = try await stack.start("dispatcher", settings)
            #expect(try await eventually { try await stack.areDispatched(ids, ingest) })
            let before = try await stack.records(of: ids, ingest)
            first.process.proceed()
            // It notices that its connection is gone, and comes back.
            #expect(
                try await eventually {
                    first.process.standardError.contains("The connection to the broker ended")
                })
            try await expectReady(first)
            for service in [first, second] { try await service.drain() }
            #expect(try await stack.records(of: ids, ingest) == before)
            try await ingest.drain()
        }
    }

    @Test func `Services outlive their database`() async throws {
        try await withPostgresServer { database in
            try await withStack(databaseURL: database.url) { stack in
                let services = [
                    try await stack.start("ingest"), try await stack.start("dispatcher"),
                    try await stack.start("retrieval"),
                ]
                let ingest = services[0]
                try await expectReady(ingest, services[1])
                var ids = [try await ingest.post("1", to: "alice", stack)]
                #expect(try await eventually { stack.hub.has(ids) })

                try await database.kill()
                for service in services {
                    let isTold = try await eventually {
                        let answer = try await service.request(.GET, "/readyz")
                        return answer.status == 503 && answer.body.contains(#""database":"down""#)
                    }
                    #expect(isTold, "\(service.process.name)")
                    #expect(try await service.request(.GET, "/livez").status == 200)
                }
                let refused = try await ingest.request(
                    .POST, "/api/notifications", bearer: stack.apiKey, body: #"{"Recipient":"alice","Payload":1}"#)
                #expect(refused.status == 503)
                #expect(refused.headers.first(name: "Retry-After") != nil)

                try await database.start()
                for service in services { #expect(try await service.isReady(#""database":"up""#)) }
                ids.append(try await ingest.post("2", to: "alice", stack))
                #expect(try await eventually { stack.hub.has(ids) })
                // The same processes all along.
                for service in services {
                    #expect(service.process.isRunning)
                    try await service.drain()
                }
            }
        }
    }
}

extension Stack {
    /// Pauses a process while it does not hold SQLite's writer lock. No other process could write until it goes on, and
    /// the test would only measure how long the lock is waited for.
    fileprivate func pauseOutsideTransaction(_ process: ProcessUnderTest) async throws {
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        let path = String(databaseURL.dropFirst("sqlite:".count))
        let database = try DatabaseQueue(path: path, configuration: configuration)
        func isUnlocked() -> Bool { (try? database.inTransaction(.immediate) { _ in .rollback }) != nil }
        for _ in 0..<20 {
            process.pause()
            if try await eventually(within: .seconds(1), { isUnlocked() }) { return }
            process.proceed()
            try #require(try await eventually { isUnlocked() })
        }
        Issue.record("\(process.name) held the writer lock each time that it was paused")
    }
}
