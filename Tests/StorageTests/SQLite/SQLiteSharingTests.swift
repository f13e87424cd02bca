import Domain
import Foundation
import Foundations
import Synchronization
import TestSupport
import Testing

@testable import Storage

struct SQLiteSharingTests {
    private func withTwoStores(_ body: @Sendable (any Store, any Store) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let url = "sqlite:\(folder)/x.sqlite"
            try await withRunningStore(url) { one in
                try await withRunningStore(url) { two in try await body(one.store, two.store) }
            }
        }
    }

    @Test func `Both write at once, and each sees the other's work`() async throws {
        try await withTwoStores { one, two in
            let sent = SealedNotification.samples(400)
            try await withThrowingTaskGroup { group in
                for (index, sample) in sent.enumerated() {
                    let store = index.isMultiple(of: 2) ? one : two
                    group.addTask { try await store.append([sample]) }
                }
                try await group.waitForAll()
            }
            for sample in sent {
                #expect(try await one.find(sample.id, recipient: .alice) != nil)
                #expect(try await two.find(sample.id, recipient: .alice) != nil)
            }
        }
    }

    @Test func `Leases of two never overlap`() async throws {
        try await withTwoStores { one, two in
            let sent = SealedNotification.samples(200)
            try await one.append(sent)
            let leased = try await withThrowingTaskGroup { group in
                for store in [one, two] {
                    group.addTask {
                        var mine: [NotificationID] = []
                        while true {
                            let entries = try await store.lease(limit: 3, now: due, until: due + .seconds(60))
                            if entries.isEmpty { return mine }
                            mine += entries.map(\.id)
                        }
                    }
                }
                return try await group.reduce(into: [NotificationID]()) { $0 += $1 }
            }
            #expect(leased.sorted() == sent.map(\.id).sorted())
        }
    }

    @Test func `Claims of two count one attempt after the other`() async throws {
        try await withTwoStores { one, two in
            let sent = SealedNotification.sample()
            try await one.append([sent])
            let attempts = try await withThrowingTaskGroup { group in
                for turn in 0..<100 {
                    let store = turn.isMultiple(of: 2) ? one : two
                    group.addTask { try await store.claim([sent.id], now: noon)[sent.id]?.attempt }
                }
                return try await group.reduce(into: []) { $0.append($1 ?? 0) }
            }
            #expect(attempts.sorted() == Array(1...100))
        }
    }

    @Test func `Who has written waits until those who wait have begun`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite"
            let waiting = SQLiteTurns(path: path)
            let writing = SQLiteTurns(path: path, longestPause: .seconds(3600))
            writing.giveWay()
            waiting.begin()
            let hasGivenWay = Mutex(false)
            // A thread of its own, which blocks.
            let thread = Thread {
                writing.giveWay()
                hasGivenWay.withLock { $0 = true }
            }
            thread.start()
            try await expectEventually { thread.isExecuting }
            #expect(!hasGivenWay.withLock { $0 })
            waiting.begun()
            try await expectEventually { hasGivenWay.withLock { $0 } }
        }
    }

    /// Without it, a process that wrote without a pause kept others out for as long as they wait.
    @Test func `A store gives way after each transaction, but not for long`() async throws {
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                let other = SQLiteTurns(path: "\(folder)/x.sqlite")
                other.begin()
                let start = ContinuousClock.now
                for _ in 0..<20 { try await test.store.append([.sample()]) }
                #expect(ContinuousClock.now - start >= .milliseconds(19 * 50))
                other.begun()
            }
        }
    }
}
