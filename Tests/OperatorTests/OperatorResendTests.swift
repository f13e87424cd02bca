import APITestSupport
import Domain
import Foundations
import HummingbirdTesting
import StackKit
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Operator

/// Requests that cannot do all at once go on where the one before has ended.
@Suite("Repeated resends and replays", .serialized, .timeLimit(.minutes(5)))
struct OperatorResendTests {
    private let store = memoryStore()
    private let key = "HTTP 400"

    private var actions: OperatorActions { actions(on: store) }

    private func actions(on store: any OperatorStore & SenderNotifications) -> OperatorActions {
        OperatorActions(store: store, openDeadLetters: { FakeQueues() }, logger: .silent)
    }

    /// Stores notifications that failed on one platform.
    private func fail(
        _ ids: [NotificationID], reason: String = "HTTP 400", expiresIn: Duration = .seconds(600)
    ) async throws {
        try await store.append(
            ids.map { id in
                let notification = Domain.Notification(
                    id: id, sender: "clinic", recipient: UserName("alice")!, expiresAt: .now + expiresIn)
                return SealedNotification(
                    notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
            })
        let claims = try await store.claim(ids, now: .now)
        try await store.record(
            ids.map { id in
                DispatchOutcome(
                    id: id, attempt: claims[id]?.attempt ?? 0,
                    deliveries: [OperatorBench.delivery(.apple, .dead, reason)])
            })
    }

    /// As many newer failures as one request examines, which stay failures.
    @Test(arguments: [true, false]) func `Newer failures do not hide older ones`(_ areExpired: Bool) async throws {
        let older = NotificationID(at: .now - .seconds(60))
        try await fail([older])
        let newer = (0..<OperatorActions.maxExamined).map { _ in NotificationID() }
        if areExpired { try await fail(newer, expiresIn: .zero) } else { try await fail(newer, reason: "HTTP 413") }
        let first = try await actions.resend(key, .hour, trace: nil)
        #expect(first.resent == 0 && first.expired == (areExpired ? newer.count : 0))
        #expect(first.hasMore && first.next == newer[0].description)
        let next = try #require(first.next.flatMap { NotificationID($0) })
        let second = try await actions.resend(key, .hour, before: next, trace: nil)
        #expect(second == ResendReport(resent: 1))
        let due = try await store.lease(limit: 9, now: .now, until: .now + .seconds(60))
        #expect(due.map(\.id) == [older])
    }

    /// A window of a day with few failures can have millions of rows.
    @Test func `A request reads a bounded number of pages`() async throws {
        let pages = PagesWithoutFailures()
        let report = try await actions(on: pages).resend(key, .day, trace: nil)
        #expect(await pages.count == OperatorActions.maxPages)
        let last = await pages.last
        #expect(report.hasMore && report.next == last?.description)
    }

    @Test func `The next request begins after the last that was sent`() async throws {
        let ids = (0...OperatorActions.maxResent).map { _ in NotificationID() }
        try await fail(ids)
        let first = try await actions.resend(key, .hour, trace: nil)
        #expect(first == ResendReport(resent: OperatorActions.maxResent, hasMore: true, next: ids[1].description))
        let second = try await actions.resend(key, .hour, before: ids[1], trace: nil)
        #expect(second == ResendReport(resent: 1))
    }

    @Test(arguments: [StoreKind.sqlite, .postgres])
    func `The API takes the end of the request before`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            var ids: [NotificationID] = []
            for _ in 0..<3 {
                let id = try await bench.stored()
                try await bench.record([OperatorBench.delivery(.apple, .dead, "HTTP 400")], of: id)
                ids.append(id)
            }
            let body = #"{"Reason":"HTTP 400","Before":"\#(ids[1])"}"#
            let answer = try await bench.post("/admin/api/failures/resend", body).object()
            #expect(answer["Resent"] as? Int == 1 && answer["HasMore"] as? Bool == false && answer["Next"] == nil)
            #expect(try await bench.due().map(\.id) == [ids[0]])
        }
    }

    @Test(arguments: [true, false])
    func `What is sent again has no dead letter any more, and other letters stay`(_ isGroup: Bool) async throws {
        try await withOperator { bench in
            let (id, other) = (try await bench.stored(), try await bench.stored())
            try await bench.record([OperatorBench.delivery(.apple, .dead, "HTTP 400")], of: id)
            try await bench.record([OperatorBench.delivery(.apple, .dead, "HTTP 413")], of: other)
            for failed in [id, other] { bench.queues.add(failed, reason: "refused", platforms: [.apple]) }
            let answer =
                isGroup
                ? try await bench.post("/admin/api/failures/resend", #"{"Reason":"HTTP 400"}"#).object()
                : try await bench.post("/admin/api/notifications/\(id)/resend", "{}").object()
            #expect(answer["Resent"] as? Int == 1 && answer["LettersRemoved"] as? Int == 1, "\(answer)")
            #expect(bench.queues.state.withLock { $0.letters.map { $0.message?.id } } == [other])
            #expect(try await bench.due().map(\.id) == [id])
        }
    }

    @Test func `Without the broker it is sent again all the same, and the answer says that the letters stay`()
        async throws
    {
        let id = NotificationID()
        try await fail([id])
        let actions = OperatorActions(
            store: store, openDeadLetters: { throw Refusal(description: "away") }, logger: .silent)
        let report = try await actions.resend(key, .hour, trace: nil)
        #expect(report == ResendReport(resent: 1, lettersProblem: "away"))
        #expect(try await store.lease(limit: 9, now: .now, until: .now + .seconds(60)).map(\.id) == [id])
    }

    @Test func `Letters that cannot be replayed do not hide others`() async throws {
        try await withOperator { bench in
            for _ in 0..<OperatorActions.maxReplayed { bench.queues.add(NotificationID(), reason: "attempts") }
            let id = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.apple, .dead, "x")], of: id)
            bench.queues.add(id, reason: "attempts", platforms: [.apple])
            let answer = try await bench.post("/admin/api/dead-letters/replay", #"{"All":true}"#).object()
            #expect(answer["Replayed"] as? Int == 1 && answer["Left"] as? Int == OperatorActions.maxReplayed)
            #expect(answer["HasMore"] as? Bool == false)
            #expect(try await bench.due().map(\.id) == [id])
        }
    }
}

/// A store whose pages end at the limit of a statement, without a failure and without an end.
actor PagesWithoutFailures: ForwardingStore {
    let base = memoryStore()
    private(set) var count = 0
    private(set) var last: NotificationID?

    func page(_ query: OperatorQuery) -> OperatorPage {
        count += 1
        last = NotificationID(at: (query.before?.timestamp ?? .now) - .seconds(1))
        return OperatorPage(entries: [], next: last)
    }
}
