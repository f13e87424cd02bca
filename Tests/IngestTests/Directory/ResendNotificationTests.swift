import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Ingest

@Suite("POST /api/notifications/{id}/resend")
struct ResendNotificationTests {
    private func delivery(_ platform: Platform, _ state: DeliveryState) -> Delivery {
        Delivery(platform: platform, state: state, attempts: 1, error: "413", updatedAt: .now)
    }

    private func resend(_ bench: DirectoryBench, _ id: some CustomStringConvertible) async throws -> TestResponse {
        try await bench.send(.post, "/api/notifications/\(id)/resend")
    }

    @Test func `What failed is owed again and handed over`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            try await bench.record(
                [delivery(.apple, .sent), delivery(.fcmv1, .dead), delivery(.windows, .dead)], of: id)
            let answer = try await resend(bench, id)
            #expect(answer.status == .accepted)
            #expect(answer.headers[.cacheControl] == "no-store")
            #expect(String(buffer: answer.body) == #"{"Id":"\#(id)","Platforms":["fcmv1","windows"]}"#)
            let entries = await bench.handedOver.take() ?? []
            #expect(entries.map(\.id) == [id])
            #expect(entries.first?.traceparent.flatMap { TraceContext(traceparent: $0) } != nil)
            let record = try #require(try await bench.store.record(id, sender: "clinic"))
            #expect(record.deliveries.map(\.state) == [.sent, .pending, .pending])
            #expect(record.dispatchStatus == .queued)
        }
    }

    @Test func `Where nothing is owed it is 409`() async throws {
        try await withDirectory { bench in
            let fresh = try await bench.stored()
            let sent = try await bench.stored()
            try await bench.record([delivery(.apple, .sent)], of: sent)
            let expired = try await bench.stored { $0.expiresAt = .now - .seconds(1) }
            let revoked = try await bench.stored()
            try await bench.record([delivery(.apple, .dead)], of: revoked)
            _ = try await bench.store.revoke(revoked, sender: "clinic", now: .now)
            let twice = try await bench.stored()
            try await bench.record([delivery(.apple, .dead)], of: twice)
            #expect(try await resend(bench, twice).status == .accepted)
            for id in [fresh, sent, expired, revoked, twice] { try await resend(bench, id).expectProblem(409) }
            #expect(bench.handedOver.count == 1)
        }
    }

    @Test func `Another's is the same 404 and stays`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            try await bench.record([delivery(.apple, .dead)], of: id)
            let unknown = try await resend(bench, NotificationID())
            let malformed = try await resend(bench, "x")
            let path = "/api/notifications/\(id)/resend"
            let another = try await bench.send(.post, path, authorization: bench.lab)
            for answer in [unknown, malformed, another] {
                try answer.expectProblem(404)
                #expect(try answer.withoutInstance() == unknown.withoutInstance())
            }
            #expect(try await bench.store.record(id, sender: "clinic")?.dispatchStatus == .failed)
            #expect(bench.handedOver.count == 0)
        }
    }
}
