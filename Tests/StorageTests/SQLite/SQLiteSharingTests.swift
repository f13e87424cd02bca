import Domain
import Foundations
import Storage
import Testing

struct SQLiteSharingTests {
    @Test func `Both write at once, and each sees the other's work`() async throws {
        try await withTemporaryFolder { folder in
            let url = "sqlite:\(folder)/x.sqlite"
            try await withRunningStore(url) { one in
                try await withRunningStore(url) { two in
                    let sent = SealedNotification.samples(400)
                    try await withThrowingTaskGroup { group in
                        for (index, sample) in sent.enumerated() {
                            let store = index.isMultiple(of: 2) ? one.store : two.store
                            group.addTask { try await store.append([sample]) }
                        }
                        try await group.waitForAll()
                    }
                    for sample in sent {
                        #expect(try await one.store.find(sample.id, recipient: .alice) != nil)
                        #expect(try await two.store.find(sample.id, recipient: .alice) != nil)
                    }
                }
            }
        }
    }

    @Test func `Leases of two never overlap`() async throws {
        try await withTemporaryFolder { folder in
            let url = "sqlite:\(folder)/x.sqlite"
            let sent = SealedNotification.samples(200)
            try await withRunningStore(url) { one in
                try await one.store.append(sent)
                try await withRunningStore(url) { two in
                    let leased = try await withThrowingTaskGroup { group in
                        for store in [one.store, two.store] {
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
        }
    }

    @Test func `Claims of two count one attempt after the other`() async throws {
        try await withTemporaryFolder { folder in
            let url = "sqlite:\(folder)/x.sqlite"
            let sent = SealedNotification.sample()
            try await withRunningStore(url) { one in
                try await one.store.append([sent])
                try await withRunningStore(url) { two in
                    let attempts = try await withThrowingTaskGroup { group in
                        for turn in 0..<100 {
                            let store = turn.isMultiple(of: 2) ? one.store : two.store
                            group.addTask { try await store.claim([sent.id], now: noon)[sent.id]?.attempt }
                        }
                        return try await group.reduce(into: []) { $0.append($1 ?? 0) }
                    }
                    #expect(attempts.sorted() == Array(1...100))
                }
            }
        }
    }
}
