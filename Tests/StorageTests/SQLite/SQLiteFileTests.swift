import Domain
import Foundation
import Foundations
import Logging
import TestSupport
import Testing

@testable import Storage

struct SQLiteFileTests {
    private let logger = Logger(label: "SQLiteFileTests") { _ in SwiftLogNoOpLogHandler() }

    private func open(_ path: String, _ migrations: MigrationPolicy = .automatic) async throws -> OpenedStore {
        try await openStore(StorageConfiguration(url: "sqlite:\(path)", migrations: migrations), logger: logger)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `Folder and files are the process's user's only`() async throws {
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/a/b/x.sqlite") { test in
                try await test.store.append([.sample()])
                #expect(try mode("\(folder)/a") == 0o700)
                #expect(try mode("\(folder)/a/b") == 0o700)
                for suffix in ["", "-wal", "-shm"] { #expect(try mode("\(folder)/a/b/x.sqlite\(suffix)") == 0o600) }
            }
        }
    }

    @Test func `A file that is opened again has everything`() async throws {
        try await withTemporaryFolder { folder in
            let url = "sqlite:\(folder)/x.sqlite"
            let sent = SealedNotification.samples(10)
            try await withRunningStore(url) { test in
                try await test.store.append(sent)
                try await test.store.markRead(sent[0].id, at: noon)
                _ = try await test.store.claim([sent[1].id], now: noon)
                try await test.store.save(Registration(id: "r", owner: .bob, handle: "h", updatedAt: noon))
            }
            // The log was written back: the file alone is a whole backup.
            #expect((try? Data(contentsOf: URL(filePath: "\(folder)/x.sqlite-wal")))?.isEmpty ?? true)
            try await withRunningStore(url) { (test: TestStore) async throws in
                #expect(try await test.store.find(sent[0].id, recipient: .alice)?.readAt == noon)
                #expect(try await test.store.claim([sent[1].id], now: noon)[sent[1].id]?.attempt == 2)
                #expect(try await test.store.backlog(now: due).count == 10)
                #expect(try await test.store.registration("r", owner: .bob)?.handle == "h")
            }
        }
    }

    @Test func `While writes fail, no first attempt begins with a read: the claim decides`() async throws {
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                var sent = SealedNotification.sample(createdAt: .now + .seconds(60), expiresAt: .now + .seconds(600))
                sent.claimsFirstAttempt = true
                try await test.store.append([sent])
                #expect(try await test.store.begin([sent.id], now: .now)[sent.id] != nil)
                let store = try #require(test.store as? SQLiteStore)
                store.database.failedWork.failed("test", StorageError(.unavailable, "The disk is full.")) { nil }
                #expect(try await test.store.begin([sent.id], now: .now).plans.isEmpty)
            }
        }
    }

    @Test(arguments: ["file/x.sqlite", "file/a/x.sqlite"])
    func `A path that cannot be made is named, with what to do`(_ path: String) async throws {
        try await withTemporaryFolder { folder in
            try Data("x".utf8).write(to: URL(filePath: "\(folder)/file"))
            let error = await #expect(throws: StorageError.self) { try await open("\(folder)/\(path)") }
            #expect(error?.code == .invalid)
            #expect(error?.message.contains("\(folder)/file") ?? false)
        }
    }

    @Test func `A folder that cannot be written to is named, with what to do`() async throws {
        // The kernel's folder refuses root as well, whom the modes of folders do not bind.
        let path = FileManager.default.fileExists(atPath: "/sys/kernel") ? "/sys/kernel/x.sqlite" : "/System/x.sqlite"
        let error = await #expect(throws: StorageError.self) { try await open(path) }
        #expect(error?.code == .invalid)
        #expect(error.map { $0.message.contains(path) && $0.message.contains("Name another path") } ?? false)
    }

    @Test(arguments: [
        "This is a text and long enough to be taken for a page of something. ",
        "SQLite format 3\u{0} but no more of it. ",
    ])
    func `A file that is no database is named and left alone`(_ text: String) async throws {
        try await withTemporaryFolder { folder in
            let content = Data(String(repeating: text, count: 100).utf8)
            try content.write(to: URL(filePath: "\(folder)/x.sqlite"))
            let error = await #expect(throws: StorageError.self) { try await open("\(folder)/x.sqlite") }
            #expect(error?.code == .invalid)
            #expect(error?.message.contains("\(folder)/x.sqlite") ?? false)
            #expect(try Data(contentsOf: URL(filePath: "\(folder)/x.sqlite")) == content)
        }
    }

    @Test func `A folder in the file's place is named`() async throws {
        try await withTemporaryFolder { folder in
            let error = await #expect(throws: StorageError.self) { try await open(folder) }
            #expect(error?.code == .invalid)
        }
    }
}
