import Domain
import Storage
import Testing

@Suite(.stores) struct LoadTests {
    @Test(arguments: conformingStores)
    func `500 concurrent appends are all kept`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(500)
        try await withThrowingTaskGroup { group in
            for one in sent { group.addTask { try await store.append([one]) } }
            try await group.waitForAll()
        }
        #expect(try await store.backlog(now: due).count == 500)
        for one in sent { #expect(try await store.find(one.id, recipient: .alice)?.payload?.bytes == [1, 2, 3]) }
    }

    @Test(arguments: conformingStores)
    func `Each of 300 concurrent readers gets its own`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = (0..<300).map { SealedNotification.sample(payload: [UInt8($0 % 251), UInt8($0 / 251)]) }
        try await store.append(sent)
        try await withThrowingTaskGroup { group in
            for one in sent {
                group.addTask {
                    let found = try await store.find(one.id, recipient: .alice)
                    #expect(found?.id == one.id && found?.payload == one.payload)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: conformingStores)
    func `Mixed work of a whole life keeps its promises`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.samples(60)
        try await withThrowingTaskGroup { group in
            for one in sent {
                group.addTask {
                    try await test.store.append([one])
                    try await test.store.confirm([one.id], until: due)
                    let attempt = try await test.store.claim([one.id], now: noon)[one.id]?.attempt ?? 0
                    let delivery = Delivery.sample(.apple, .sent)
                    try await test.store.record([
                        DispatchOutcome(id: one.id, attempt: attempt, deliveries: [delivery])
                    ])
                    try await test.store.markRead(one.id, at: noon)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await test.store.backlog(now: due).count == 0)
        let left = try await test.store.leasePublished(limit: 99, due: due, now: due, until: due)
        #expect(left == PublishedLease())
        for one in sent.prefix(5) {
            #expect(try await test.status(of: one.id) == .dispatched)
            #expect(try await test.store.find(one.id, recipient: .alice)?.readAt == noon)
        }
    }
}
