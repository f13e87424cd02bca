import Domain
import Foundation
import StackKit
import TestSupport
import Testing

@testable import Storage

/// What is written to a file that nobody finds again is lost, so nothing is written to it.
@Suite(.stores, .timeLimit(.minutes(15))) struct SQLiteFileWatchTests {
    enum Fault: CaseIterable {
        case moved, removed, replaced, replacedByACopy, folderMoved, folderRemoved, logRemoved, indexRemoved, emptied

        /// Whether moving it back repairs it.
        var isMove: Bool { self == .moved || self == .folderMoved }

        func make(_ path: String) throws {
            let files = FileManager.default
            let folder = URL(filePath: path).deletingLastPathComponent().path
            switch self {
            case .moved: try files.moveItem(atPath: path, toPath: path + ".away")
            case .removed: try files.removeItem(atPath: path)
            case .replaced:
                try files.removeItem(atPath: path)
                try Data("another file".utf8).write(to: URL(filePath: path))
            case .replacedByACopy:
                try files.moveItem(atPath: path, toPath: path + ".away")
                try files.copyItem(atPath: path + ".away", toPath: path)
            case .folderMoved: try files.moveItem(atPath: folder, toPath: folder + ".away")
            case .folderRemoved: try files.removeItem(atPath: folder)
            case .logRemoved: try files.removeItem(atPath: path + "-wal")
            case .indexRemoved: try files.removeItem(atPath: path + "-shm")
            // Without opening it: closing a file releases SQLite's locks on it.
            case .emptied: #expect(truncate(path, 0) == 0)
            }
        }

        func undo(_ path: String) throws {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            let place = self == .moved ? path : folder
            try FileManager.default.moveItem(atPath: place + ".away", toPath: place)
        }
    }

    @Test(arguments: Fault.allCases)
    func `Nothing is stored, and the service is not ready, until the file is back`(_ fault: Fault) async throws {
        let test = try await StoreKind.sqlite.openTest()
        let path = String(test.url.dropFirst("sqlite:".count))
        let sent = SealedNotification.sample()
        try await test.store.append([sent])
        #expect(await test.readiness() == nil)
        try fault.make(path)
        #expect(await test.readiness()?.contains("not where it was") == true)
        for call in [StoreCall.append, .markReadThen, .appendOnce, .markRead, .find, .inbox, .lease, .ping] {
            let error = await #expect(throws: StorageError.self, "\(call)") {
                try await call.make(test.store, .sample())
            }
            #expect(error?.isRetriable == true, "\(call)")
        }
        guard fault.isMove else { return }
        try fault.undo(path)
        #expect(await test.readiness() == nil)
        try await test.store.append([.sample()])
        #expect(try await test.store.find(sent.id, recipient: .alice) != nil)
    }

    @Test func `A path that is a symbolic link is watched too`() async throws {
        try await withTemporaryFolder { folder in
            for name in ["a", "b"] { try Data().write(to: URL(filePath: "\(folder)/\(name).sqlite")) }
            let link = "\(folder)/link.sqlite"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder)/a.sqlite")
            try await withRunningStore("sqlite:\(link)") { test in
                try await test.store.append([.sample()])
                try FileManager.default.removeItem(atPath: link)
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder)/b.sqlite")
                await #expect(throws: StorageError.self) { try await test.store.append([.sample()]) }
            }
        }
    }

    @Test func `Other processes that open and close the file change nothing`() async throws {
        let test = try await StoreKind.sqlite.openTest()
        for _ in 0..<3 {
            try await withRunningStore(test.url) { other in try await other.store.append([.sample()]) }
            try await test.store.append([.sample()])
            #expect(await test.readiness() == nil)
        }
    }
}
