import Domain
import StackKit
import Storage
import Testing

@Suite(.stores) struct CancellationTests {
    @Test(arguments: conformingStores, StoreCall.allCases)
    func `Cancelling any call leaves the store usable`(_ kind: StoreKind, _ call: StoreCall) async throws {
        let store = try await kind.open()
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
        try await store.ping(timeout: patience)
    }

    /// How a lease ends.
    enum LeaseEnd: CaseIterable {
        case kept, removed, saved, expired
    }

    /// A shutdown or a client that has gone must not leave a device locked until its lease expires.
    @Test(arguments: conformingStores, LeaseEnd.allCases)
    func `A cancelled caller gives its lease back`(_ kind: StoreKind, _ end: LeaseEnd) async throws {
        let store = try await kind.open()
        let device = Registration(id: "r", owner: .alice, platform: .apns, handle: "h", updatedAt: noon)
        guard case .leased(let lease) = try await store.lease(.registration, "r", if: .any, now: noon) else {
            return #expect(Bool(false))
        }
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            #expect(try await store.setPlaces([DevicePlace(hub: "a")], of: lease))
            switch end {
            case .kept: #expect(try await store.end(lease, .keep, now: noon))
            case .removed: #expect(try await store.end(lease, .remove, now: noon))
            case .saved: #expect(try await store.end(lease, .saveRegistration(device, handles: ["h"]), now: noon))
            case .expired: try await store.expire(lease, now: noon)
            }
        }
        late.cancel()
        try await late.value
        #expect(try await store.places(of: .registration, ["r"]) == ["r": [DevicePlace(hub: "a")]])
        #expect((try await store.registration("r") == nil) == (end != .saved))
        guard case .leased(let next) = try await store.lease(.registration, "r", if: .any, now: noon) else {
            return #expect(Bool(false), "The lease is still held.")
        }
        #expect(next.isInDoubt == (end == .expired))
    }

    @Test(arguments: conformingStores)
    func `Whoever is cancelled while it takes a lease has it, or nobody has`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        await withTaskGroup { group in
            for number in 0..<40 {
                group.addTask {
                    let outcome = try? await store.lease(.installation, "i\(number)", if: .any, now: noon)
                    guard case .leased(let lease)? = outcome else { return }
                    _ = try? await store.end(lease, .keep, now: noon)
                }
            }
            await group.next()
            group.cancelAll()
        }
        for number in 0..<40 {
            guard case .leased = try await store.lease(.installation, "i\(number)", if: .any, now: noon) else {
                return #expect(Bool(false), "The lease of i\(number) is lost.")
            }
        }
    }

    @Test(arguments: conformingStores)
    func `An append that was cancelled is there with its outbox entry, or not at all`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
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
