import Domain
import Foundation
import GRDB
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite(.stores) struct HubOpeningTests {
    private let quiet = Logger(label: "HubOpeningTests") { _ in SwiftLogNoOpLogHandler() }

    @Test(arguments: [StoreKind.sqlite, .postgres], [true, false])
    func `One database has both schemas, in either order`(_ kind: StoreKind, _ isHubFirst: Bool) async throws {
        let url = try await kind.freshURL()
        let configuration = try StorageConfiguration(url: url)
        if isHubFirst { _ = try await StoreKind.runHub(url).put(.sample("a")) }
        let report = try await migrateStore(configuration, logger: quiet)
        #expect(report == MigrationReport(applied: ["0018_baseline"], version: 18))
        let tables = try await StoreKind.runHub(url)
        #expect(try await tables.ids() == (isHubFirst ? ["a"] : []))
        try await tables.put(.sample("b"))
        for _ in 0..<2 {
            #expect(
                try await migrateHubTables(configuration, logger: quiet) == MigrationReport(applied: [], version: 2))
            #expect(try await migrateStore(configuration, logger: quiet) == MigrationReport(applied: [], version: 18))
        }
        try await withRunningStore(url) { test in
            let sent = SealedNotification.sample()
            try await test.store.append([sent])
            #expect(try await test.status(of: sent.id) == .accepted)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .postgres])
    func `What is stored is there after a restart`(_ kind: StoreKind) async throws {
        let url = try await kind.freshURL()
        let tables = try await StoreKind.runHub(url)
        try await tables.put(.sample("a", tags: ["t"]))
        try await tables.save(HubRow(name: "Hub", description: [1]))
        let again = try await StoreKind.runHub(url)
        #expect(try await again.ids([["t"]]) == ["a"])
        #expect(try await again.hubs() == [HubRow(name: "Hub", description: [1])])
    }

    @Test(arguments: [StoreKind.sqlite, .postgres])
    func `Checking refuses a database without the tables`(_ kind: StoreKind) async throws {
        let url = try await kind.freshURL()
        _ = try await migrateStore(StorageConfiguration(url: url), logger: quiet)
        let check = try StorageConfiguration(url: url, migrations: .check)
        let error = await #expect(throws: StorageError.self) {
            let opened = try await openHubTables(check, logger: quiet)
            try await opened.service.run()
        }
        #expect(error?.code == .migrationNeeded)
        #expect(try await migrateHubTables(StorageConfiguration(url: url), logger: quiet).applied == ["hub_0002"])
    }

    @Test func `Another version's tables are refused`() async throws {
        let url = try await StoreKind.sqlite.freshURL()
        let configuration = try StorageConfiguration(url: url)
        _ = try await migrateHubTables(configuration, logger: quiet)
        let queue = try DatabaseQueue(path: String(url.dropFirst("sqlite:".count)))
        try await queue.write { db in try db.execute(sql: "UPDATE hub_schema_migrations SET version = 99") }
        try queue.close()
        let error = await #expect(throws: StorageError.self) { try await openHubTables(configuration, logger: quiet) }
        #expect(error?.code == .invalid && error?.message.contains("schema 99,") == true)
    }

    /// Its application ID is "HubE".
    @Test func `A file of an earlier emulator is refused and left alone`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "state.sqlite").path
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(0x4875_6245); CREATE TABLE entry (kind TEXT)")
        }
        try queue.close()
        let configuration = try StorageConfiguration(url: "sqlite:\(path)")
        let error = await #expect(throws: StorageError.self) { try await openHubTables(configuration, logger: quiet) }
        #expect(error?.code == .invalid && error?.message.contains("earlier hub-emulator") == true)
        let tables = try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_master")
        }
        #expect(tables == ["entry"])
    }

    @Test(arguments: hubStores)
    func `Hubs are stored, deleted with all they have, and made again`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.save(HubRow(name: "Hub", description: [1, 2]))
        try await tables.save(HubRow(name: "used"))
        // A use does not take a description away.
        try await tables.save(HubRow(name: "hub"))
        #expect(try await Set(tables.hubs()) == [HubRow(name: "Hub", description: [1, 2]), HubRow(name: "used")])
        for number in 0..<20 { try await tables.put(.sample("\(number)", tags: ["t"])) }
        try await tables.install("i1", [""])
        try await tables.put(.sample("a"), hub: "hub2")
        try await tables.add(HubSchedule(id: "s", hub: "hub", dueAt: noon, request: []))
        let removed = Mutex(0)
        try await tables.removeHub("Hub", now: noon) { step in removed.withLock { $0 += step.count } }
        #expect(removed.withLock(\.self) == 21)
        #expect(try await tables.hubs().filter(\.isDeleted).map(\.key) == ["hub"])
        #expect(try await tables.ids().isEmpty)
        #expect(try await tables.ids([["t"]]).isEmpty)
        #expect(try await tables.ids(hub: "hub2") == ["a"])
        #expect(try await tables.installation("i1", hub: "hub", now: noon) == nil)
        #expect(try await tables.scheduleCount() == 0)
        try await tables.save(HubRow(name: "HUB", description: [3]))
        #expect(try await tables.hubs().first { $0.key == "hub" } == HubRow(name: "HUB", description: [3]))
    }

    @Test func `A full memory is an error, and reading goes on`() async throws {
        let store = SQLiteStore(try SQLiteDatabase(.hub, maxPages: 64), logger: quiet)
        store.start()
        let tables = HubTables(store)
        try await tables.put(.sample("first", tags: ["t"]))
        let error = await #expect(throws: StorageError.self) {
            for number in 0..<1000 {
                try await tables.put(.sample("\(number)", document: [UInt8](repeating: 1, count: 4000)))
            }
        }
        #expect(error?.code == .unavailable)
        #expect(try await tables.ids([["t"]]) == ["first"])
    }
}
