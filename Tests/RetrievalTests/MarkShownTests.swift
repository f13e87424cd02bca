import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Retrieval

@Suite("POST /api/notifications/{id}/shown")
struct MarkShownTests {
    @Test func `The first time is kept and it is no read`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let before = Timestamp.now
            let answer = try await bench.show(id)
            #expect(answer.status == .noContent && answer.body.readableBytes == 0)
            let record = try #require(try await bench.store.record(id, sender: "clinic"))
            #expect(record.readAt == nil)
            let shownAt = try #require(record.shownAt)
            #expect(shownAt >= before)
            #expect(try await bench.show(id).status == .noContent)
            #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == shownAt)
            #expect(try await bench.get(id, "?include=unread").text.hasSuffix(#""Read":false,"Unread":0}"#))
        }
    }

    @Test func `What is not yours is not there`() async throws {
        try await withRetrieval { bench in
            let others = try await bench.accept("1", for: "bob")
            let early = try await bench.accept("1", notBefore: .now + .seconds(600))
            var seen: Set<String> = []
            for id in ["\(others)", "\(early)", "\(NotificationID())", "x"] {
                let answer = try await bench.request(.post, "/api/notifications/\(id)/shown", by: try bench.token())
                try answer.expectProblem(404)
                seen.insert(try #require(try answer.object()["detail"] as? String))
            }
            #expect(seen.count == 1, "\(seen)")
            for id in [others, early] {
                #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == nil)
            }
        }
    }

    @Test func `What is gone is gone for its owner`() async throws {
        try await withRetrieval { bench in
            let expired = try await bench.accept("1", expiresAt: .now - .milliseconds(1))
            let revoked = try await bench.accept("1")
            #expect(try await bench.store.revoke(revoked, sender: "clinic", now: .now))
            for (id, detail) in [
                (expired, "The notification has expired."), (revoked, "The notification was revoked."),
            ] {
                let answer = try await bench.show(id)
                try answer.expectProblem(410)
                #expect(try answer.object()["detail"] as? String == detail)
                #expect(try await bench.get(id).status == .gone)
                #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == nil)
            }
        }
    }

    @Test func `A body is ignored`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.request(
                .post, "/api/notifications/\(id)/shown", by: try bench.token(), body: #"{"At":"yesterday""#)
            #expect(answer.status == .noContent)
        }
    }
}

extension RetrievalBench {
    /// Tells that a device of `alice` has shown a notification.
    fileprivate func show(_ id: NotificationID) async throws -> TestResponse {
        try await request(.post, "/api/notifications/\(id)/shown", by: try token())
    }
}
