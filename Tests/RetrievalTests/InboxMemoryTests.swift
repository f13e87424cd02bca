import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Retrieval

/// Pages with payloads reserve memory before the store loads anything.
@Suite("The memory of inbox pages with payloads", .timeLimit(.minutes(5)))
struct InboxMemoryTests {
    /// A store in memory whose payloads are loaded when the test says so.
    private final class HoldingReader: ForwardingStore {
        struct State {
            var isOpen = false
            var loading = 0
            var mostBytes = 0
            var bytes = 0
        }

        let base: any Store
        let state = Mutex(State())

        init(_ store: any Store) { base = store }

        func find(
            _ ids: [NotificationID], recipient: UserName
        ) async throws -> [NotificationID: StoredNotification] {
            let bytes = try await base.payloadBytes(of: ids, recipient: recipient)
            state.withLock { state in
                state.loading += 1
                state.bytes += bytes
                state.mostBytes = max(state.mostBytes, state.bytes)
            }
            while !state.withLock({ $0.isOpen }) { try await Task.sleep(for: .milliseconds(2)) }
            state.withLock { $0.bytes -= bytes }
            return try await base.find(ids, recipient: recipient)
        }
    }

    private static func fill(_ store: any Store, _ sealer: PayloadSealer, count: Int, bytes: Int) async throws {
        let user = try #require(UserName("alice"))
        let text = Array("\"\(String(repeating: "x", count: bytes - 2))\"".utf8)
        for _ in 0..<count {
            let notification = Notification(sender: "clinic", recipient: user, expiresAt: .now + .seconds(3600))
            let payload = try sealer.seal(text, id: notification.id, recipient: user)
            try await store.append([SealedNotification(notification: notification, payload: payload)])
        }
    }

    private static func pages(_ bench: RetrievalBench, _ count: Int, _ query: String = "") async throws -> [Int: Int] {
        let token = try bench.token()
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await bench.request(
                        .get, "/api/notifications?include=payload" + query, by: token
                    ).status.code
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// Before, all pages were loaded, and then most of them were refused.
    @Test(arguments: [(20, 64 * 1024, ""), (5, 256 * 1024, "&Unread=true"), (200, 40 * 1024, "&Limit=200")])
    func `Two hundred pages hold no more than the budget`(count: Int, bytes: Int, query: String) async throws {
        let (store, budget) = (memoryStore(), RequestBudget(maxBytes: 16 * 1024 * 1024, reservedForSmall: 0))
        let reader = HoldingReader(store)
        try await withRetrieval(reader: reader, budget: budget) { bench in
            try await Self.fill(store, bench.sealer, count: count, bytes: bytes)
            async let answers = Self.pages(bench, 200, query)
            // All that fit are loading, and the others are refused.
            let fitting = 16 * 1024 * 1024 / (2 * min(count, 20) * (bytes + 64))
            try await expectEventually { reader.state.withLock { $0.loading } == max(fitting, 1) }
            #expect(budget.usedBytes <= 16 * 1024 * 1024)
            reader.state.withLock { $0.isOpen = true }
            let statuses = try await answers
            #expect(
                statuses[200, default: 0] >= fitting && statuses[200, default: 0] + statuses[503, default: 0] == 200)
            #expect(reader.state.withLock { $0.mostBytes } <= 8 * 1024 * 1024)
            try await expectEventually { budget.usedBytes == 0 }
        }
    }

    @Test func `Two hundred small pages are all answered`() async throws {
        let (store, budget) = (memoryStore(), RequestBudget())
        let reader = HoldingReader(store)
        try await withRetrieval(reader: reader, budget: budget) { bench in
            try await Self.fill(store, bench.sealer, count: 20, bytes: 200)
            async let answers = Self.pages(bench, 200)
            try await expectEventually { reader.state.withLock { $0.loading } == 200 }
            reader.state.withLock { $0.isOpen = true }
            #expect(try await answers == [200: 200])
        }
    }
}
