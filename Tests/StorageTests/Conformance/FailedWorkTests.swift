import Domain
import Foundation
import Postgres
import StackKit
import TestSupport
import Testing

@testable import Storage

/// Readiness follows from the work, and not from a ping: a database can answer and still do nothing.
@Suite(.stores, .timeLimit(.minutes(15))) struct FailedWorkTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let kind: StoreKind
        let fault: String
        let repair: String
        var testDescription: String { "\(kind): \(fault)" }
    }

    static let faults = [
        Fault(
            kind: .postgres, fault: "ALTER TABLE payloads RENAME TO hidden",
            repair: "ALTER TABLE hidden RENAME TO payloads"),
        Fault(
            kind: .postgres, fault: "REVOKE INSERT ON outbox FROM securepush",
            repair: "GRANT INSERT ON outbox TO securepush"),
        Fault(
            kind: .postgres, fault: "ALTER TABLE notifications RENAME COLUMN sender TO s",
            repair: "ALTER TABLE notifications RENAME COLUMN s TO sender"),
        Fault(
            kind: .sqlite, fault: "ALTER TABLE payloads RENAME TO hidden",
            repair: "ALTER TABLE hidden RENAME TO payloads"),
        Fault(
            kind: .sqlite, fault: "ALTER TABLE outbox RENAME TO hidden", repair: "ALTER TABLE hidden RENAME TO outbox"),
        Fault(
            kind: .sqlite, fault: "ALTER TABLE notifications RENAME COLUMN sender TO s",
            repair: "ALTER TABLE notifications RENAME COLUMN s TO sender"),
    ]

    @Test(arguments: faults)
    func `It is not ready while its work fails, and ready by itself afterwards`(_ fault: Fault) async throws {
        let test = try await fault.kind.openTest()
        try await test.store.append([.sample()])
        #expect(await test.readiness() == nil)
        try await test.execute(fault.fault)
        await #expect(throws: StorageError.self) { try await test.store.append([.sample()]) }
        try await test.store.ping(timeout: .seconds(30))
        // It stays so without requests: each second the work is tried out.
        for _ in 0..<3 {
            #expect(await test.readiness() != nil)
            try await Task.sleep(for: .seconds(1))
        }
        try await test.execute(fault.repair)
        #expect(try await eventually { await test.readiness() == nil })
        try await test.store.append([.sample()])
    }

    @Test(arguments: conformingStores)
    func `The next success ends it`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        try await test.execute("ALTER TABLE payloads RENAME TO hidden")
        await #expect(throws: StorageError.self) { try await test.store.append([.sample()]) }
        try await test.execute("ALTER TABLE hidden RENAME TO payloads")
        try await test.store.append([.sample()])
        #expect(await test.readiness() == nil)
    }

    @Test(arguments: conformingStores)
    func `So does a request with several notifications, which is not divided`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        try await test.execute("ALTER TABLE payloads RENAME TO hidden")
        await #expect(throws: StorageError.self) { try await test.store.append([.sample(), .sample()]) }
        #expect(await test.readiness() != nil)
        try await test.execute("ALTER TABLE hidden RENAME TO payloads")
        try await test.store.append([.sample(), .sample()])
        #expect(await test.readiness() == nil)
    }

    @Test func `A time limit counts from the second time in a row`() {
        let (work, late) = (FailedWork(), StorageError(.timeout, "late"))
        work.failed("find", late) { late }
        work.succeeded("find")
        for kind in ["find", "append"] { work.failed(kind, late) { late } }
        #expect(work.check() == nil)
        work.failed("find", late) { late }
        #expect(work.check()?.code == .timeout)
        work.succeeded("find")
        #expect(work.check() == nil)
    }

    @Test func `A trial that gets no connection of its own says nothing: a ping does`() async throws {
        let configuration = try PostgresConfiguration(uri: "postgres://127.0.0.1:1/none")
        let trial = PostgresTrial(
            statement: PostgresStatement("SELECT 1"), parameters: PostgresParameters(), configuration: configuration)
        #expect(await trial.run() == nil)
    }

    @Test(arguments: RefusalTests.rules)
    func `A value that is refused says nothing about the database`(_ rule: RefusalTests.Rule) async throws {
        let test = try await rule.kind.openTest()
        try await rule.apply(to: test, on: "INSERT")
        let odd = try #require(UserName("odd"))
        await #expect(throws: StorageError.self) { try await test.store.append([.sample(to: odd)]) }
        #expect(await test.readiness() == nil)
    }

    /// The first page has the schema, so that a connection still answers.
    @Test(arguments: [4096, 65_536])
    func `A file with a damaged part is not ready until it is repaired`(from offset: UInt64) async throws {
        let test = try await StoreKind.sqlite.openTest()
        let sent = (0..<400).map { _ in SealedNotification.sample(payload: [UInt8](repeating: 7, count: 20_000)) }
        try await test.store.append(sent)
        let path = String(test.url.dropFirst("sqlite:".count))
        let content = try Data(contentsOf: URL(filePath: path))
        // Not closed before the end: closing a file releases SQLite's locks on it.
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0xAA, count: content.count - Int(offset)))
        await #expect(throws: StorageError.self) {
            for sample in sent { _ = try await test.store.find(sample.id, recipient: .alice) }
        }
        #expect(await test.readiness() != nil)
        try await Task.sleep(for: .seconds(1.5))
        #expect(await test.readiness() != nil)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: content)
        #expect(try await eventually { await test.readiness() == nil })
        try file.close()
    }
}
