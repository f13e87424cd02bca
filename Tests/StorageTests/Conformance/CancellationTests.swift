import SecurePushCore
import Storage
import Testing

@Suite("Every store: cancelled callers")
struct CancellationTests {
    @Test("Cancelling any call leaves the store usable", arguments: conformingStores, StoreCall.allCases)
    func usable(_ kind: StoreKind, _ call: StoreCall) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.samples(40)
            try await store.append(Array(sent.prefix(20)))
            await withTaskGroup { group in
                for one in sent {
                    group.addTask { try? await call.make(store, one) }
                }
                for _ in 0..<10 { await group.next() }
                group.cancelAll()
            }
            // Cancelled before it begins.
            let late = Task { try await call.make(store, sent[0]) }
            late.cancel()
            _ = await late.result
            let after = SealedNotification.sample()
            try await store.append([after])
            #expect(try await store.find(after.id, recipient: .alice) != nil)
            try await store.markRead(after.id, at: noon)
            #expect(try await store.claim([after.id], now: noon)[after.id]?.attempt == 1)
            try await store.ping(timeout: .seconds(5))
        }
    }

    @Test("An append that was cancelled is there with its outbox entry, or not at all", arguments: conformingStores)
    func wholeOrNothing(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.samples(100)
            let succeeded = await withTaskGroup { group in
                for one in sent {
                    group.addTask { (one.id, (try? await store.append([one])) != nil) }
                }
                group.cancelAll()
                return await group.reduce(into: Set<NotificationID>()) { if $1.1 { $0.insert($1.0) } }
            }
            let waiting = Set(try await store.lease(limit: 1000, now: due, until: due).map(\.id))
            for one in sent {
                let isThere = try await store.find(one.id, recipient: .alice) != nil
                #expect(isThere == waiting.contains(one.id))
                #expect(isThere || !succeeded.contains(one.id))
            }
        }
    }
}
