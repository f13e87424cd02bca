import Domain
import Foundations
import Synchronization
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct DeadLetterReplayTests {
    private struct Bench {
        var store = memoryStore()
        var publisher = FakeDispatchPublisher()

        func replay(
            _ queue: FakeDeadLetterQueue, ids: Set<NotificationID>? = nil, limit: Int = .max, examining: Int = .max,
            drops: Bool = false, _ selection: @Sendable (DeadLetter) -> Bool = { _ in true }
        ) async throws -> (report: ReplayReport, items: [ReplayItem]) {
            let items = Mutex<[ReplayItem]>([])
            let replay = DeadLetterReplay(
                queue: queue, store: store, publisher: publisher, drops: drops,
                report: { item in items.withLock { $0.append(item) } })
            let report = try await replay.run(ids: ids, limit: limit, examining: examining, selection)
            await queue.close()
            return (report, items.withLock { $0 })
        }
    }

    @Test func `It goes on with what is owed, attempts from 1, and the letter is gone`() async throws {
        let bench = Bench()
        let id = try await bench.store.addGivenUp()
        let queue = FakeDeadLetterQueue([.sample(1, id)])
        let (report, items) = try await bench.replay(queue)
        #expect(report == ReplayReport(replayed: 1))
        #expect(items.map(\.text) == ["replayed \(id) to fcmv1"])
        let expected = DispatchMessage(id: id, platforms: [.fcmv1], attempt: nil, traceparent: "00-4bf9-00f0-01")
        #expect(await bench.publisher.published == [expected])
        #expect(await queue.letters.isEmpty)
        let record = try #require(try await bench.store.records([id])[id])
        #expect(record.deliveries.map(\.state) == [.sent, .pending])
        #expect(record.deliveries.map(\.attempts) == [1, 0])
    }

    @Test(arguments: [FollowUp.Kind.withdrawal, .reminder], [true, false])
    func `The dead letter of a follow-up reopens no push`(_ kind: FollowUp.Kind, _ drops: Bool) async throws {
        let bench = Bench()
        let id = try await bench.store.addGivenUp()
        let letter = DeadLetter(tag: 1, message: DispatchMessage(id: id, kind: kind), reason: "r", byteCount: 36)
        let queue = FakeDeadLetterQueue([letter])
        let (report, _) = try await bench.replay(queue, drops: drops)
        #expect(report == (drops ? ReplayReport(dropped: 1) : ReplayReport(left: 1)))
        #expect(await bench.publisher.published.isEmpty)
        #expect(await queue.letters.count == (drops ? 0 : 1))
        #expect(try await bench.store.records([id])[id]?.deliveries.contains { $0.state == .dead } == true)
    }

    @Test func `What the broker does not confirm stays, and nothing more is tried`() async throws {
        var bench = Bench()
        bench.publisher = FakeDispatchPublisher { $0 >= 1 }
        var letters: [DeadLetter] = []
        for tag in 1...UInt64(DeadLetterReplay.batchSize + 5) {
            letters.append(.sample(tag, try await bench.store.addGivenUp()))
        }
        let queue = FakeDeadLetterQueue(letters)
        let (report, _) = try await bench.replay(queue)
        #expect(report.failure == "refused")
        #expect(report.replayed == 1 && report.left == DeadLetterReplay.batchSize - 1)
        #expect(await queue.letters == Array(letters.dropFirst()))
        // The second time all of them go, those included that were reopened before.
        bench.publisher = FakeDispatchPublisher()
        let (second, _) = try await bench.replay(queue)
        #expect(second == ReplayReport(replayed: letters.count - 1))
        #expect(await queue.letters.isEmpty)
    }

    @Test(arguments: [false, true])
    func `What can never be sent is reported, and removed when asked to, or when nothing has failed any more`(
        drops: Bool
    ) async throws {
        let bench = Bench()
        let revoked = try await bench.store.addGivenUp()
        _ = try await bench.store.revoke(revoked, sender: "tests", now: .now)
        let expired = try await bench.store.addGivenUp(expiresIn: .zero)
        let settled = try await bench.store.addGivenUp()
        let unknown = NotificationID()
        let letters: [DeadLetter] = [
            .sample(1, revoked), .sample(2, nil), .sample(3, expired), .sample(4, settled, [.apple]),
            .sample(5, unknown),
        ]
        let queue = FakeDeadLetterQueue(letters)
        let (report, items) = try await bench.replay(queue, drops: drops)
        #expect(report == (drops ? ReplayReport(dropped: 4, left: 1) : ReplayReport(dropped: 1, left: 4)))
        #expect(Set(items.map(\.result)) == [.revoked, .unreadable, .expired, .settled, .unknown])
        #expect(await queue.letters == (drops ? [letters[1]] : letters.filter { $0.tag != 4 }))
        #expect(await bench.publisher.published.isEmpty)
    }

    @Test func `Only what was asked for, and what is not there is told`() async throws {
        let bench = Bench()
        let ids = [try await bench.store.addGivenUp(), try await bench.store.addGivenUp()]
        let missing = NotificationID()
        let letters: [DeadLetter] = [.sample(1, ids[0]), .sample(2, nil), .sample(3, ids[1])]
        let queue = FakeDeadLetterQueue(letters)
        let (report, items) = try await bench.replay(queue, ids: [ids[1], missing])
        #expect(report == ReplayReport(replayed: 1, notFound: 1))
        #expect(items.map(\.result) == [.replayed, .notFound])
        #expect(await queue.letters == Array(letters.prefix(2)))
    }

    @Test func `Letters that cannot be replayed do not count towards the limit`() async throws {
        let bench = Bench()
        var letters = (1...3).map { DeadLetter.sample($0, NotificationID()) }
        for tag in UInt64(4)...8 { letters.append(.sample(tag, try await bench.store.addGivenUp())) }
        let queue = FakeDeadLetterQueue(letters)
        let (first, _) = try await bench.replay(queue, limit: 3)
        #expect(first == ReplayReport(replayed: 3, left: 3, hasMore: true))
        #expect(await queue.letters.map(\.tag) == [1, 2, 3, 7, 8])
        let (second, _) = try await bench.replay(queue, limit: 3)
        #expect(second == ReplayReport(replayed: 2, left: 3))
    }

    @Test func `The limit is exact, also between batches`() async throws {
        let bench = Bench()
        let limit = DeadLetterReplay.batchSize + 5
        var letters: [DeadLetter] = []
        for tag in 1...UInt64(limit + 1) { letters.append(.sample(tag, try await bench.store.addGivenUp())) }
        let queue = FakeDeadLetterQueue(letters)
        let (report, _) = try await bench.replay(queue, limit: limit)
        #expect(report == ReplayReport(replayed: limit, hasMore: true))
        #expect(await queue.letters == Array(letters.suffix(1)))
    }

    @Test func `Only so many letters are examined, and it is told`() async throws {
        let letters = (1...3).map { DeadLetter.sample($0, NotificationID()) }
        let queue = FakeDeadLetterQueue(letters)
        let (some, _) = try await Bench().replay(queue, examining: 2)
        #expect(some == ReplayReport(left: 2, hasMore: true))
        let (all, _) = try await Bench().replay(queue, examining: 3)
        #expect(all == ReplayReport(left: 3))
        #expect(await queue.letters == letters)
    }

    @Test func `Two letters of one notification are both replayed`() async throws {
        let bench = Bench()
        let id = try await bench.store.addGivenUp()
        let queue = FakeDeadLetterQueue([.sample(1, id, [.fcmv1]), .sample(2, id, [.windows])])
        let (report, _) = try await bench.replay(queue)
        #expect(report == ReplayReport(replayed: 2))
        #expect(await bench.publisher.published.map(\.platforms) == [[.fcmv1], [.fcmv1, .windows]])
    }

    @Test func `A letter without platforms goes to all that are owed`() async throws {
        let bench = Bench()
        let id = NotificationID()
        let new = Notification(
            id: id, sender: "tests", recipient: UserName("bob")!, createdAt: .now, expiresAt: .now + .seconds(60))
        try await bench.store.append([
            SealedNotification(notification: new, payload: SealedPayload(keyID: "k", bytes: [1]))
        ])
        let (report, items) = try await bench.replay(FakeDeadLetterQueue([.sample(1, id, nil)]))
        #expect(report == ReplayReport(replayed: 1))
        #expect(items.map(\.text) == ["replayed \(id) to all platforms"])
        #expect(await bench.publisher.published.map(\.platforms) == [nil])
    }

    @Test func `Letters that come while it runs are another time's`() async throws {
        let bench = Bench()
        let id = try await bench.store.addGivenUp()
        let queue = FakeDeadLetterQueue([.sample(1, id), .sample(2, NotificationID())])
        var looked = 0
        let total = try await DeadLetterScan(queue: queue).run { _ in
            looked += 1
            return looked < 1
        }
        #expect(total == 2 && looked == 1)
        #expect(await queue.count() == 1)
    }
}
