import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

@Suite("GET /api/notifications/{id}/status: withdrawals and reminders")
struct FollowUpStatusTests {
    private let time = Timestamp(milliseconds: 1_800_000_000_000)

    private func sent(_ platforms: Platform...) -> [Delivery] {
        platforms.map { Delivery(platform: $0, state: .sent, attempts: 1, updatedAt: time) }
    }

    @Test func `A withdrawn delivery says when`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored { $0.expiresAt = time + .seconds(86_400 * 365) }
            try await bench.record(sent(.apple, .windows), of: id)
            #expect(try await bench.send(.delete, "/api/notifications/\(id)").status == .noContent)
            let withdrawal = FollowUp(id: id, kind: .withdrawal)
            let plan = try #require(try await bench.store.claimFollowUps([withdrawal], now: .now).plans[withdrawal])
            try await bench.store.recordFollowUps([
                FollowUpOutcome(followUp: withdrawal, attempt: plan.attempt, deliveries: sent(.windows))
            ])
            let text = try await bench.status(of: id).text
            let at = #""Attempts":1,"UpdatedAt":"2027-01-15T08:00:00.000Z""#
            #expect(text.contains(#"{"Platform":"apple","State":"sent",\#(at)}"#), "\(text)")
            let withdrawn = #"{"Platform":"windows","State":"sent",\#(at),"Withdrawn":"2027-01-15T08:00:00.000Z"}"#
            #expect(text.contains(withdrawn), "\(text)")
        }
    }

    @Test func `Reminders are counted in steps`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored {
                $0.createdAt = time
                $0.expiresAt = time + .seconds(86_400 * 365)
                $0.remind = [.seconds(30), .seconds(60)]
            }
            #expect(try await bench.status(of: id).text.hasSuffix(#"],"Reminders":{"Sent":0}}"#))
            _ = try await bench.store.claim([id], now: time)
            try await bench.store.record([
                DispatchOutcome(id: id, attempt: 1, deliveries: sent(.apple, .windows), pushedAt: time)
            ])
            var text = try await bench.status(of: id).text
            #expect(text.hasSuffix(#"],"Reminders":{"Sent":0,"Next":"2027-01-15T08:00:30.000Z"}}"#), "\(text)")
            _ = try await bench.store.leaseFollowUps(limit: 1, now: time + .seconds(30))
            let reminder = FollowUp(id: id, kind: .reminder)
            let claims = try await bench.store.claimFollowUps([reminder], now: time + .seconds(30))
            text = try await bench.status(of: id).text
            #expect(text.hasSuffix(#"],"Reminders":{"Sent":0,"Next":"2027-01-15T08:01:30.000Z"}}"#), "\(text)")
            let attempt = try #require(claims.plans[reminder]).attempt
            try await bench.store.recordFollowUps([
                FollowUpOutcome(followUp: reminder, attempt: attempt, deliveries: sent(.apple, .windows))
            ])
            text = try await bench.status(of: id).text
            #expect(text.hasSuffix(#"],"Reminders":{"Sent":1,"Next":"2027-01-15T08:01:30.000Z"}}"#), "\(text)")
            try await bench.store.markRead(id, at: time)
            text = try await bench.status(of: id).text
            #expect(text.hasSuffix(#"],"Reminders":{"Sent":1}}"#), "\(text)")
        }
    }
}
