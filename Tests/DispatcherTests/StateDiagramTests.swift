import Domain
import Foundations
import TestSupport
import Testing

@testable import Dispatcher

/// The diagrams of docs/reference/notification-states.md have the changes that the code makes, and no others. The tests
/// take each step from each state.
@Suite struct StateDiagramTests {
    private static let page = "docs/reference/notification-states.md"
    private let now = Timestamp(milliseconds: 1_000_000)

    @Test func `The diagram of a delivery`() throws {
        let alice = try #require(UserName("alice"))
        var edges: Set<String> = []
        func note(_ from: DeliveryState, _ to: Delivery?) {
            if let to, to.state != from { edges.insert("\(from) --> \(to.state)") }
        }
        for state in DeliveryState.allCases {
            let delivery = Delivery(platform: .apple, state: state, attempts: 1, updatedAt: now)
            let record = NotificationRecord(
                id: NotificationID(), recipient: alice, createdAt: now, expiresAt: now + .seconds(60),
                dispatchStatus: DispatchStatus([delivery]), deliveries: [delivery])
            note(state, record.reopening([.apple], now: now).deliveries.first)
            note(state, record.resending(now: now).deliveries.first)
            let plan = DispatchPlan(
                id: record.id, recipient: alice, expiresAt: record.expiresAt, deliveries: [delivery])
            // The last attempt, and one before.
            for policy in [2, 9].map({ DispatchPolicy(platforms: [.apple], maxAttempts: $0) }) {
                note(state, plan.outcomeSkippingAll(policy, reason: "expired", now: now).deliveries.first)
                guard policy.owedPlatforms(plan, asked: nil) == [.apple] else { continue }
                for answer in Self.answers {
                    note(state, policy.delivery(of: .apple, after: answer, previous: delivery, now: now))
                }
                var skipped = plan
                _ = skipped.skip(policy, except: [], now: now)
                note(state, skipped.deliveries.first)
            }
        }
        #expect(try StateDiagram(page: Self.page, heading: "## State of a delivery").edges == edges)
    }

    private static let answers: [LaneAnswer] = {
        let outcomes: [SendOutcome] = [
            .sent(hubMessageID: nil), .throttled(retryAfter: nil), .unavailable(reason: "", retryAfter: nil),
            .notSent(reason: ""), .unanswered(reason: ""), .rejected(reason: ""), .unauthorized(reason: ""),
            .hubNotFound(reason: ""),
        ]
        return outcomes.map { .answered($0, hold: nil) } + [
            .held(LaneHold(reason: "", pause: .zero, crowd: 1)), .coalesced(into: NotificationID()),
            .waits(SilentWait(until: .now)),
        ]
    }()

    @Test func `The diagram of a notification`() throws {
        let alice = try #require(UserName("alice"))
        let combinations = DeliveryState.allCases.flatMap { first in
            DeliveryState.allCases.map { second in
                [(Platform.apple, first), (.fcmv1, second)].map {
                    Delivery(platform: $0.0, state: $0.1, updatedAt: now)
                }
            }
        }
        var edges: Set<String> = []
        func note(_ from: NotificationRecord, _ to: NotificationRecord, later: Duration = .zero) {
            let (before, after) = (from.status(at: now), to.status(at: now + later))
            if before != after { edges.insert("\(before) --> \(after)") }
        }
        for (status, deliveries) in combinations.map({ (DispatchStatus($0), $0) }) + [(.accepted, [])] {
            for bits in 0..<8 {
                let record = NotificationRecord(
                    id: NotificationID(), recipient: alice, createdAt: now,
                    expiresAt: bits & 1 == 0 ? now + .seconds(60) : now, dispatchStatus: status,
                    deliveries: deliveries, readAt: bits & 2 == 0 ? nil : now, revokedAt: bits & 4 == 0 ? nil : now)
                // The recipient reads it, the sender revokes it, it expires, the sender resends it.
                var next = record
                let reading = ReadingState(expiresAt: record.expiresAt, isRevoked: record.revokedAt != nil)
                if reading.access(at: now) == .readable { next.readAt = record.readAt ?? now }
                note(record, next)
                next = record
                next.revokedAt = record.revokedAt ?? now
                note(record, next)
                note(record, record, later: .seconds(60))
                next = record
                let resend = record.resending(now: now)
                if case .owed = resend.result { next.dispatchStatus = DispatchStatus(resend.deliveries) }
                note(record, next)
                // A dispatcher stores an outcome.
                guard status == .accepted || status == .queued else { continue }
                for outcome in combinations {
                    next = record
                    next.dispatchStatus = DispatchStatus(outcome)
                    note(record, next)
                }
            }
        }
        #expect(try StateDiagram(page: Self.page, heading: "## Status of a notification").edges == edges)
    }
}
