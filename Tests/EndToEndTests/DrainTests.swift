import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

@Suite("SIGTERM under load", .serialized, .broker, .timeLimit(.minutes(5)))
struct DrainTests {
    @Test func `A dispatcher that ends loses nothing`() async throws {
        try await withStack(hubLatency: .milliseconds(30)) { stack in
            let ingest = try await stack.start("ingest")
            let settings = ["DISPATCH_CONCURRENCY": "8", "DISPATCH_PREFETCH": "64"]
            let first = try await stack.start("dispatcher", settings)
            try await expectReady(ingest, first)
            let ids = try await post(200, to: ingest, stack)
            #expect(try await eventually { stack.hub.sends.count >= 60 })
            try await first.drain()
            // The test is of no use when the first has done it all.
            #expect(!stack.hub.has(ids))
            let second = try await stack.start("dispatcher", settings)
            #expect(try await eventually { stack.hub.has(ids) })
            for service in [ingest, second] { try await service.drain() }
            // What the first had sent it had put on record: nothing was sent twice.
            #expect(stack.hub.sends.count == 600)
        }
    }

    /// The hub accepts connections and requests of one platform and never answers them.
    @Test(arguments: [true, false])
    func `A silent hub does not keep a dispatcher from ending`(isBrokerUp: Bool) async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest")
            let first = try await stack.start("dispatcher")
            try await expectReady(ingest, first)
            stack.hub.keepSilent(["windows"])
            let ids = try await post(25, to: ingest, stack)
            #expect(try await eventually { stack.hub.sends.count == 50 && stack.hub.silentSends.count == 25 })
            // While the broker is down, nothing can be given back to it either.
            if !isBrokerUp { try await stack.broker.kill() }
            try await first.drain()
            // What the other platforms took is on record, though one did not answer.
            for id in ids { try await expectSent(["apple", "fcmv1"], of: id, ingest, stack) }
            guard isBrokerUp else {
                try await ingest.drain()
                try await stack.broker.start()
                _ = try await stack.broker.heal()
                return
            }
            stack.hub.keepSilent([])
            let second = try await stack.start("dispatcher")
            #expect(try await eventually { stack.hub.has(ids) })
            for service in [ingest, second] { try await service.drain() }
            // The only second pushes are on the platform that never answered.
            #expect(stack.hub.sends.count == 75)
        }
    }

    /// Expects what a sender is told of a notification: these platforms took it, and `windows` is owed.
    private func expectSent(
        _ platforms: Set<String>, of id: NotificationID, _ ingest: RunningService, _ stack: Stack
    ) async throws {
        struct Status: Decodable {
            struct Delivery: Decodable {
                var Platform: String
                var State: String
            }
            var Deliveries: [Delivery]
        }
        let answer = try await ingest.request(.GET, "/api/notifications/\(id)/status", bearer: stack.apiKey)
        let status = try JSONDecoder().decode(Status.self, from: Data(answer.body.utf8))
        #expect(Set(status.Deliveries.filter { $0.State == "sent" }.map(\.Platform)) == platforms, "\(answer.body)")
    }

    @Test func `An ingest that ends loses nothing that it accepted`() async throws {
        try await withStack { stack in
            let first = try await stack.start("ingest")
            try await expectReady(first)
            let accepted = try await withThrowingTaskGroup(of: [NotificationID].self) { group in
                for _ in 0..<8 { group.addTask { await postUntilRefused(first, stack) } }
                group.addTask {
                    #expect(try await eventually { try await accepts(first, 200) })
                    try await first.drain()
                    return []
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(accepted.count >= 200)
            let second = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            #expect(try await eventually { stack.hub.has(accepted) })
            for service in [second, dispatcher] { try await service.drain() }
        }
    }

    @Test func `A retrieval that ends finishes its answers`() async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest")
            let id = try await ingest.post(#""\#(String(repeating: "x", count: 200_000))""#, to: "alice", stack)
            let retrieval = try await stack.start("retrieval")
            let token = stack.token(of: "alice")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { await readUntilRefused(id, retrieval, token) } }
                group.addTask {
                    for _ in 0..<20 {
                        let answer = try await retrieval.request(.GET, "/api/notifications/\(id)", bearer: token)
                        #expect(answer.status == 200)
                    }
                    try await retrieval.drain()
                    return 0
                }
                let whole = try await group.reduce(0, +)
                #expect(whole > 20)
            }
            try await ingest.drain()
        }
    }
}

/// Reads until the service takes no more; an answer that has begun must be whole.
private func readUntilRefused(_ id: NotificationID, _ retrieval: RunningService, _ token: String) async -> Int {
    var whole = 0
    while let answer = try? await retrieval.request(.GET, "/api/notifications/\(id)", bearer: token),
        answer.status == 200
    {
        #expect(answer.body.utf8.count > 200_000)
        whole += 1
    }
    return whole
}
