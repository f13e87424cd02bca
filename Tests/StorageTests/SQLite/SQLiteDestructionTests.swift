import Domain
import Foundation
import Foundations
import TestSupport
import Testing

@testable import Storage

struct SQLiteDestructionTests {
    /// All bytes of the database, side files included.
    private func bytes(_ folder: String) -> Data {
        ["", "-wal", "-shm"].reduce(into: Data()) {
            $0 += (try? Data(contentsOf: URL(filePath: "\(folder)/x.sqlite\($1)"))) ?? Data()
        }
    }

    /// Payloads of many sizes, each of which ends with sixteen bytes of its own.
    private func samples(_ count: Int, expiresAt: Timestamp) -> [SealedNotification] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { index in
            let size = [40, 100, 300, 700, 1500, 3000, 9000][index % 7]
            let payload = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
            return .sample(expiresAt: expiresAt, payload: payload)
        }
    }

    private func isThere(_ sent: SealedNotification, in bytes: Data) -> Bool {
        bytes.range(of: Data(sent.payload.bytes.suffix(16))) != nil
    }

    @Test func `Expired and revoked ciphertext of any size is overwritten while the store runs`() async throws {
        try await withTemporaryFolder { folder in
            let old = samples(140, expiresAt: noon + .seconds(10)).shuffled()
            let revoked = samples(35, expiresAt: noon + .seconds(3600))
            let new = samples(70, expiresAt: noon + .seconds(3600))
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                for one in (old + revoked + new).shuffled() { try await test.store.append([one]) }
                let before = bytes(folder)
                #expect((old + revoked + new).allSatisfy { isThere($0, in: before) })
                for one in revoked { _ = try await test.store.revoke(one.id, sender: "tests", now: noon) }
                let report = try await test.store.purge(limit: 1000, now: noon + .seconds(10))
                #expect(report == PurgeReport(payloads: old.count))
                let after = bytes(folder)
                #expect(old.count { isThere($0, in: after) } == 0)
                #expect(revoked.count { isThere($0, in: after) } == 0)
                #expect(new.allSatisfy { isThere($0, in: after) })
            }
        }
    }

    @Test func `A round of purging cuts the log to nothing`() async throws {
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                try await test.store.append(SealedNotification.samples(50))
                let log = URL(filePath: "\(folder)/x.sqlite-wal")
                #expect(try !Data(contentsOf: log).isEmpty)
                _ = try await test.store.purge(limit: 10, now: noon)
                #expect(try Data(contentsOf: log).isEmpty)
            }
        }
    }

    @Test func `Many large payloads are destroyed in one call, in several transactions`() async throws {
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                let payload = [UInt8](repeating: 7, count: 256 * 1024)
                let sent = (0..<40).map { _ in SealedNotification.sample(payload: payload) }
                try await test.store.append(sent)
                let report = try await test.store.purge(limit: 100, now: noon + .seconds(3600))
                #expect(report == PurgeReport(payloads: 40))
                for one in sent { #expect(try await test.store.find(one.id, recipient: .alice)?.payload == nil) }
            }
        }
    }
}
