import Domain
import Foundations
import TestSupport
import Testing

@testable import Ingest

/// Which messages say that they are the first of their notification.
@Suite struct FirstPublishTests {
    private func stored(_ count: Int, at time: Timestamp, in store: any Store) async throws -> [SealedNotification] {
        let sealed = try sampleNotifications(count, at: time).map { sealed in
            var sealed = sealed
            sealed.claimsFirstAttempt = true
            return sealed
        }
        try await store.append(sealed)
        return sealed
    }

    @Test func `A message that is handed over has the mark`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let sealed = try await stored(3, at: .unswept, in: store)
        try await withRelay(store, publisher) { relay in
            relay.handOver(sealed)
            relay.handOver(try await store.accept(1, at: .unswept))
            relay.handOver(entries: CollectionOfOne(OutboxEntry(id: NotificationID())))
            try await expectEventually { publisher.record.tried.count == 5 }
        }
        #expect(publisher.record.tried.map(\.isFirst) == [true, true, true, false, false])
    }

    /// The first publish was refused, or its confirm was lost: the broker may have it.
    @Test func `A repeat has no mark`() async throws {
        let store = memoryStore()
        // Due, and its notice is over soon.
        let sealed = try await stored(2, at: .now - .seconds(60), in: store)
        let publisher = FakePublisher(refused: Set(sealed.map(\.notification.id)))
        let counting = CountingOutbox(store)
        try await withRelay(counting, publisher) { relay in
            relay.handOver(sealed)
            try await expectEventually { publisher.record.tried.filter(\.isFirst).count == 2 }
            publisher.refuse([])
            try await expectEventually { publisher.ids.count == 2 }
        }
        for one in sealed {
            let tries = publisher.record.tried.filter { $0.id == one.notification.id }
            #expect(tries.count >= 2 && tries[0].isFirst && tries.filter(\.isFirst).count == 1)
        }
    }

    @Test func `What the sweep publishes has no mark`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let sealed = try await stored(2, at: .now - .seconds(60), in: store)
        try await withRelay(store, publisher) { _ in try await expectEventually { publisher.ids.count == 2 } }
        #expect(Set(publisher.ids) == Set(sealed.map(\.notification.id)))
        #expect(publisher.record.tried.filter(\.isFirst).isEmpty)
    }
}
