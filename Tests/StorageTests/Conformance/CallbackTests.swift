import Domain
import Foundations
import Storage
import Testing

@Suite(.timeLimit(.minutes(15))) struct CallbackTests {
    @Test(arguments: conformingStores)
    func `An append with a callback is durable, and repeating it changes nothing`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.samples(3)
            try await store.appendByCallback([])
            try await store.appendByCallback([sent[0]])
            try await store.appendByCallback(Array(sent[1...]))
            try await store.appendByCallback([.sample(sent[0].id, payload: [9])])
            for one in sent {
                #expect(try await store.find(one.id, recipient: .alice)?.payload == one.payload)
            }
            #expect(try await store.backlog(now: due).count == 3)
        }
    }

    @Test(arguments: conformingStores)
    func `A callback finds the same as a task`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent: [SealedNotification] = [
                .sample(payload: [1], remind: [.seconds(60)]), .sample(to: .bob), .sample(), .sample(),
                .sample(notBefore: noon + .seconds(2), traceparent: "00-1-2-01", payload: []),
            ]
            try await store.append(sent)
            try await store.markRead(sent[2].id, at: noon)
            _ = try await store.revoke(sent[3].id, sender: "tests", now: noon)
            for id in sent.map(\.id) + [NotificationID()] {
                for user in [UserName.alice, .bob] {
                    let found = try await store.findByCallback(id, recipient: user)
                    #expect(try await store.find(id, recipient: user) == found)
                }
            }
            #expect(try await store.findByCallback(sent[0].id, recipient: .alice)?.payload?.bytes == [1])
            #expect(try await store.findByCallback(sent[1].id, recipient: .alice) == nil)
        }
    }

    @Test(arguments: conformingStores)
    func `A callback marks as read like a task, and the first reading is kept`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.samples(2)
            try await store.append(sent)
            try await store.markReadByCallback(sent[0].id, at: noon + .seconds(5))
            try await store.markReadByCallback(sent[0].id, at: noon + .seconds(1))
            try await store.markRead(sent[0].id, at: noon + .seconds(2))
            try await store.markReadByCallback(NotificationID(), at: noon)
            #expect(try await store.find(sent[0].id, recipient: .alice)?.readAt == noon + .seconds(5))
            #expect(try await store.find(sent[1].id, recipient: .alice)?.readAt == nil)
        }
    }

    @Test(arguments: conformingStores)
    func `A reading by callback withdraws the push that asked for it`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = try await store.appendClaimed()
            var delivery = Delivery.sample(.apple, .sent)
            delivery.isWithdrawnOnRead = true
            try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: [delivery])])
            try await store.markReadByCallback(sent.id, at: noon)
            let leased = try await store.leaseFollowUps(limit: 9, now: noon)
            #expect(leased.map(\.id) == [sent.id])
        }
    }

    @Test(arguments: conformingStores)
    func `Callbacks and tasks at once each get their own`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = (0..<300).map { SealedNotification.sample(payload: [UInt8($0 % 251), UInt8($0 / 251)]) }
            try await withThrowingTaskGroup { group in
                for (index, one) in sent.enumerated() {
                    group.addTask {
                        let isEven = index.isMultiple(of: 2)
                        if isEven { try await store.appendByCallback([one]) } else { try await store.append([one]) }
                        let found =
                            isEven
                            ? try await store.find(one.id, recipient: .alice)
                            : try await store.findByCallback(one.id, recipient: .alice)
                        #expect(found?.id == one.id && found?.payload == one.payload)
                        if isEven {
                            try await store.markReadByCallback(one.id, at: noon)
                        } else {
                            try await store.markRead(one.id, at: noon)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let states = try await store.states(sent.map(\.id), recipient: .alice)
            #expect(states.count == 300 && states.values.allSatisfy(\.isRead))
        }
    }
}
