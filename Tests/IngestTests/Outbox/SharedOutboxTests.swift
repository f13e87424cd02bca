import Domain
import Foundation
import Foundations
import Logging
import ServiceLifecycle
import StackKit
import Storage
import TestSupport
import Testing

@testable import Ingest

/// Several ingest processes on one outbox: each has its own connections to the store, and its own relay.
@Suite("Two relays on one outbox", .timeLimit(.minutes(5)))
struct SharedOutboxTests {
    /// Where SQLite is a file: a store in memory has one process.
    static let kinds: [StoreKind] = [.sqlite, .postgres]

    @Test(arguments: kinds)
    func `What is due is published once`(_ kind: StoreKind) async throws {
        try await withTwoStores(kind) { stores in
            let ids = try await stores[0].accept(3000, at: .now - .seconds(60)).map(\.id)
            let publishers = [FakePublisher(), FakePublisher()]
            try await withRelays(relays(stores, publishers, FakeQueueProbe())) {
                try await expectEventually { try await stores[0].backlog(now: .now).count == 0 }
            }
            let published = publishers.flatMap(\.ids)
            #expect(published.count == 3000)
            #expect(Set(published) == Set(ids))
        }
    }

    @Test(arguments: kinds)
    func `What was lost is published once`(_ kind: StoreKind) async throws {
        try await withTwoStores(kind) { stores in
            let ids = try await stores[0].accept(3000, at: .now - .seconds(60)).map(\.id)
            try await stores[0].confirm(ids, until: .now - .seconds(30))
            let publishers = [FakePublisher(), FakePublisher()]
            try await withRelays(relays(stores, publishers, FakeQueueProbe(0))) {
                try await expectEventually { publishers.reduce(0) { $0 + $1.ids.count } >= 3000 }
            }
            let published = publishers.flatMap(\.ids)
            #expect(published.count == 3000)
            #expect(Set(published) == Set(ids))
        }
    }

    @Test(arguments: kinds)
    func `What one hands over the other leaves alone`(_ kind: StoreKind) async throws {
        try await withTwoStores(kind) { stores in
            let publishers = [FakePublisher(), FakePublisher()]
            let relays = relays(stores, publishers, FakeQueueProbe())
            try await withRelays(relays) {
                for _ in 0..<20 {
                    for index in 0..<2 { relays[index].handOver(try await stores[index].accept(25, at: .unswept)) }
                }
                try await expectEventually { try await stores[0].backlog(now: .now).count == 0 }
            }
            #expect(publishers.map(\.ids.count) == [500, 500])
        }
    }

    private func relays(
        _ stores: [any Store], _ publishers: [FakePublisher], _ probe: FakeQueueProbe
    ) -> [OutboxRelay] {
        zip(stores, publishers).map { store, publisher in
            OutboxRelay(outbox: store, publisher: publisher, probe: probe, timing: .patient, logger: .silent)
        }
    }

    private func withTwoStores(
        _ kind: StoreKind, _ body: @Sendable ([any Store]) async throws -> Void
    ) async throws {
        if kind == .postgres {
            try await withPostgresDatabase { url in try await withOpenStores(url, body) }
        } else {
            try await withTemporaryFolderURL { folder in
                try await withOpenStores("sqlite:\(folder.path)/x.sqlite", body)
            }
        }
    }

    private func withOpenStores(_ url: String, _ body: @Sendable ([any Store]) async throws -> Void) async throws {
        var opened: [OpenedStore] = []
        for _ in 0..<2 { opened.append(try await openStore(StorageConfiguration(url: url), logger: .silent)) }
        let group = ServiceGroup(services: opened.map(\.service), logger: .silent)
        let stores = opened.map(\.store)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Result<Void, any Error>
            do {
                for store in stores {
                    // Each answer may take long too: the two migrate one database, one after the other, while other
                    // tests make databases of their own.
                    let isReady = try await eventually { (try? await store.ping(timeout: patience)) != nil }
                    try #require(isReady)
                }
                result = .success(try await body(stores))
            } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try result.get()
        }
    }
}
