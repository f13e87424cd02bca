import APITestSupport
import Domain
import Foundations
import TestSupport
import Testing

@testable import Ingest

/// `E2E_KEY_NOTICE`.
@Suite struct KeyNoticeSweepTests {
    /// The beginning of an hour.
    private let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func register(_ bench: IngestBench, _ id: String, at time: Timestamp) async throws {
        let alice = try #require(UserName("alice"))
        try await bench.store.save(
            Installation(id: id, owner: alice, platform: .apple, handle: id, document: [], updatedAt: time))
        let key = try #require(EncryptionKey(point: ES256Key().publicPoint))
        #expect(try await bench.store.setEncryptionKey(key, of: id, owner: alice, notifies: true, now: time))
    }

    /// The texts that alice has got.
    private func sweep(_ bench: IngestBench, at time: Timestamp) async throws -> [String] {
        await KeyNoticeSweep(notices: bench.store, acceptor: bench.acceptor, logger: .silent).sweep { time }
        let alice = try #require(UserName("alice"))
        let page = try await bench.store.inbox(of: alice, unreadOnly: false, after: nil, limit: 99, now: time)
        var texts: [String] = []
        for entry in page.entries {
            let stored = try #require(try await bench.store.find(entry.id, recipient: alice))
            let sealed = try #require(stored.payload)
            texts.append(String(decoding: try bench.sealer.open(sealed, id: entry.id, recipient: alice), as: UTF8.self))
        }
        return texts
    }

    @Test func `A user is told about a new key once`() async throws {
        try await withIngest(retention: .seconds(86_400)) { bench in
            try await register(bench, "phone", at: start)
            #expect(try await sweep(bench, at: start).isEmpty)
            try await register(bench, "laptop", at: start)
            let texts = try await sweep(bench, at: start)
            #expect(texts == [JSONText.quoted(KeyNoticeSweep.text)])
            #expect(try await sweep(bench, at: start + .seconds(7200)) == texts)
        }
    }

    @Test func `Several keys of an hour are told at once, and the last ones in the next hour`() async throws {
        try await withIngest(retention: .seconds(86_400)) { bench in
            for id in ["phone", "laptop"] { try await register(bench, id, at: start) }
            #expect(try await sweep(bench, at: start).count == 1)
            for id in ["tablet", "watch"] { try await register(bench, id, at: start + .seconds(60)) }
            #expect(try await sweep(bench, at: start + .seconds(60)).count == 1)
            #expect(try await sweep(bench, at: start + .seconds(3599)).count == 1)
            #expect(try await sweep(bench, at: start + .seconds(3600)).count == 2)
            #expect(try await sweep(bench, at: start + .seconds(7200)).count == 2)
        }
    }

    @Test func `A store that is away costs no notice`() async throws {
        try await withIngest(writer: FakeWriter(failure: StorageError(.unavailable, "for the test"))) { bench in
            for id in ["phone", "laptop"] { try await register(bench, id, at: start) }
            #expect(try await sweep(bench, at: start).isEmpty)
            let later = start + KeyNoticeSweep.leaseDuration
            #expect(try await bench.store.leaseKeyNotice(now: start, until: later) == nil)
            let notice = try await bench.store.leaseKeyNotice(now: later, until: later + .seconds(1))
            #expect(notice?.installation == "laptop")
        }
    }
}
