import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// From a revocation, a reading or the time of a reminder to the hub, by all services.
@Suite("Withdrawals and reminders", .serialized, .broker, .timeLimit(.minutes(5)))
struct FollowUpTests {
    private func status(_ id: NotificationID, _ ingest: RunningService, _ stack: Stack) async throws -> String {
        try await ingest.request(.GET, "/api/notifications/\(id)/status", bearer: stack.apiKey).body
    }

    private func expectDispatched(_ id: NotificationID, _ ingest: RunningService, _ stack: Stack) async throws {
        let isDispatched = try await eventually {
            try await status(id, ingest, stack).contains(#""Status":"dispatched""#)
        }
        #expect(isDispatched)
    }

    @Test(arguments: TestDatabase.allCases)
    func `What is revoked is withdrawn from every platform`(_ database: TestDatabase) async throws {
        try await withStack(database) { stack in
            let (ingest, dispatcher) = (try await stack.start("ingest"), try await stack.start("dispatcher"))
            try await expectReady(ingest, dispatcher)
            let (kept, revoked) = (
                try await ingest.post("1", to: "alice", stack), try await ingest.post("2", to: "alice", stack)
            )
            for id in [kept, revoked] { try await expectDispatched(id, ingest, stack) }
            let path = "/api/notifications/\(revoked)"
            for _ in 0..<2 {
                #expect(try await ingest.request(.DELETE, path, bearer: stack.apiKey).status == 204)
            }
            let isWithdrawn = try await eventually {
                let text = try await status(revoked, ingest, stack)
                return text.split(separator: #""Withdrawn":"#).count == 4
            }
            #expect(isWithdrawn)
            let withdrawals = stack.hub.sends.filter { $0.body.contains("withdraw") }
            #expect(Set(withdrawals.map(\.format)) == ["apple", "fcmv1", "windows"])
            #expect(withdrawals.count == 3 && withdrawals.allSatisfy { $0.body.contains("\(revoked)") })
            #expect(stack.hub.sends.count == 9)
            #expect(try await status(kept, ingest, stack).contains("Withdrawn") == false)
            for service in [ingest, dispatcher] { try await service.drain() }
        }
    }

    /// The API's shortest reminder comes after 30 s, so the test sets the times in the store back.
    @Test func `A read ends the reminders`() async throws {
        try await withStack(.postgres) { stack in
            let ingest = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            let retrieval = try await stack.start("retrieval")
            try await expectReady(ingest, dispatcher)
            #expect(try await retrieval.isReady(#""database":"up""#))
            let body = #"{"Recipient":"alice","Payload":1,"Remind":["30s","30s","30s"]}"#
            let answer = try await ingest.request(.POST, "/api/notifications", bearer: stack.apiKey, body: body)
            let location = try #require(answer.headers.first(name: "Location"))
            let id = try #require(NotificationID(String(location.suffix(36))))
            try await expectDispatched(id, ingest, stack)
            #expect(try await status(id, ingest, stack).contains(#""Reminders":{"Sent":0,"Next":""#))

            let fallDue = "UPDATE follow_ups SET due_at = 1 WHERE kind = 2 AND state = 0"
            try await sql(fallDue, at: stack.databaseURL)
            let isSent = try await eventually {
                try await status(id, ingest, stack).contains(#""Sent":1,"Next":""#) && stack.hub.sends.count == 6
            }
            #expect(isSent)

            let path = "/api/notifications/\(id)"
            #expect(try await retrieval.request(.GET, path, bearer: stack.token(of: "alice")).status == 200)
            #expect(try await status(id, ingest, stack).contains(#""Reminders":{"Sent":1}"#))
            try await sql(fallDue, at: stack.databaseURL)
            // The sweep has met the reminder and ended it.
            let isOver = try await eventually {
                try await sql("SELECT due_at FROM follow_ups", at: stack.databaseURL).contains("9223372036854775807")
            }
            #expect(isOver)
            #expect(stack.hub.sends.count == 6)
            let isCounted = try await eventually {
                try await dispatcher.request(.GET, "/metrics").body.contains("securepush_reminders_total 1")
            }
            #expect(isCounted)
        }
    }
}
