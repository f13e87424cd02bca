import Domain
import Foundations
import Storage
import TestSupport
import Testing

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
}
