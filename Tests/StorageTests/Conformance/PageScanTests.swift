import Domain
import Testing

@testable import Storage

@Suite(.stores) struct PageScanTests {
    /// Of sixty of a sender's, every tenth is another recipient's; and as many of another sender's.
    private func open(_ kind: StoreKind) async throws -> (any Store & SQLStore, [SealedNotification]) {
        let store = try #require(try await kind.open() as? any Store & SQLStore)
        var sent = SealedNotification.samples(60)
        for index in sent.indices where index % 10 == 0 { sent[index].notification.recipient = .bob }
        try await store.append(sent + sent.map { _ in .sample(from: "others", to: .bob) })
        return (store, sent)
    }

    private func walk(
        _ store: any SQLStore, _ query: NotificationQuery
    ) async throws -> (found: [NotificationID], calls: Int) {
        var query = query
        var found: [NotificationID] = []
        for call in 1...100 {
            var scan = NotificationScan(query, now: noon)
            scan.maxScan = 7
            let page = try await store.page(scan)
            found += page.entries.map(\.record.id)
            guard let next = page.next else { return (found, call) }
            query.before = next
        }
        return (found, 100)
    }

    @Test(arguments: conformingStores)
    func `Another sender's notification is never where a page ends`(_ kind: StoreKind) async throws {
        let (store, _) = try await open(kind)
        let (found, calls) = try await walk(store, NotificationQuery(sender: "nobody", recipient: .bob))
        #expect(found.isEmpty && calls == 1)
    }

    @Test(arguments: conformingStores)
    func `One recipient's are found among those of other senders`(_ kind: StoreKind) async throws {
        let (store, sent) = try await open(kind)
        let bobs = sent.filter { $0.notification.recipient == .bob }.map(\.id)
        let (found, calls) = try await walk(store, NotificationQuery(sender: "tests", recipient: .bob))
        #expect(found == bobs.reversed())
        // Rows of another sender are not even looked through.
        #expect(calls == 1)
    }

    @Test(arguments: conformingStores)
    func `Looking is bounded, and going on finds all: of a rare status`(_ kind: StoreKind) async throws {
        let (store, sent) = try await open(kind)
        _ = try await store.claim([sent[20].id], now: noon)
        let (found, calls) = try await walk(store, NotificationQuery(sender: "tests", status: .queued))
        #expect(found == [sent[20].id])
        #expect(calls == 9)
    }
}
