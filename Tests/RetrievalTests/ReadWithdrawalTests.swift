import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

/// Retrieval does not know `DISPATCH_WITHDRAW`: the delivery says whether the dispatcher wants the withdrawal.
@Suite("The first read of a notification that was pushed", .bothWays)
struct ReadWithdrawalTests {
    enum Way: CaseIterable {
        case fetch, fetchWithUnread, page, mark, markThrough
    }

    @Test(arguments: Way.allCases, [true, false])
    func `Every way of reading withdraws it if the delivery says so`(_ way: Way, _ isWithdrawn: Bool) async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", createdAt: .now - .seconds(60))
            try await bench.push(id, isWithdrawnOnRead: isWithdrawn)
            for _ in 0..<2 { try await bench.read(id, way) }
            let leased = try await bench.store.leaseFollowUps(limit: 9, now: .now)
            #expect(leased == (isWithdrawn ? [OutboxEntry(id: id, kind: .withdrawal)] : []))
        }
    }

    @Test func `What is not a read withdraws nothing`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            try await bench.push(id, isWithdrawnOnRead: true)
            let path = "/api/notifications/\(id)"
            #expect(try await bench.request(.head, path, by: try bench.token()).status == .ok)
            #expect(try await bench.request(.post, "\(path)/shown", by: try bench.token()).status == .noContent)
            #expect(try await bench.request(.get, "/api/notifications", by: try bench.token()).status == .ok)
            #expect(try await bench.request(.get, path, by: try bench.token("bob")).status == .notFound)
            #expect(try await bench.store.leaseFollowUps(limit: 9, now: .now).isEmpty)
        }
    }
}

extension RetrievalBench {
    /// Records that a dispatcher has sent it, with `DISPATCH_WITHDRAW=read` or without.
    fileprivate func push(_ id: NotificationID, isWithdrawnOnRead: Bool) async throws {
        let plan = try #require(try await store.claim([id], now: .now)[id])
        let sent = Delivery(
            platform: .apple, state: .sent, attempts: 1, updatedAt: .now, isWithdrawnOnRead: isWithdrawnOnRead)
        try await store.record([DispatchOutcome(id: id, attempt: plan.attempt, deliveries: [sent])])
    }

    fileprivate func read(_ id: NotificationID, _ way: ReadWithdrawalTests.Way) async throws {
        let path = "/api/notifications"
        let token = try token()
        let answer =
            switch way {
            case .fetch: try await request(.get, "\(path)/\(id)", by: token)
            case .fetchWithUnread: try await request(.get, "\(path)/\(id)?include=unread", by: token)
            case .page: try await request(.get, "\(path)?include=payload", by: token)
            case .mark: try await request(.post, "\(path)/read", by: token, body: #"{"Ids":["\#(id)"]}"#)
            case .markThrough: try await request(.post, "\(path)/read", by: token, body: #"{"Through":"\#(id)"}"#)
            }
        #expect(answer.status.kind == .successful)
    }
}
