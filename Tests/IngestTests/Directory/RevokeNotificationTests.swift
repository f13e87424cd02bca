import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Ingest

@Suite("DELETE /api/notifications/{id}")
struct RevokeNotificationTests {
    @Test func `The payload is destroyed and the ID is not published`() async throws {
        try await withDirectory { bench in
            let alice = try #require(UserName("alice"))
            let id = try await bench.stored { $0.notBefore = .now + .seconds(60) }
            let other = try await bench.stored()
            let answer = try await bench.send(.delete, "/api/notifications/\(id)")
            #expect(answer.status == .noContent)
            #expect(answer.body.readableBytes == 0)
            #expect(answer.headers[.cacheControl] == "no-store")
            let stored = try #require(try await bench.store.find(id, recipient: alice))
            #expect(stored.isRevoked)
            #expect(stored.payload == nil)
            let later = Timestamp.now + .seconds(120)
            #expect(try await bench.store.lease(limit: 10, now: later, until: later).map(\.id) == [other])
        }
    }

    @Test func `A repeat answers the same and changes nothing`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            #expect(try await bench.send(.delete, "/api/notifications/\(id)").status == .noContent)
            let first = try await bench.store.record(id, sender: "clinic")
            #expect(first?.revokedAt != nil)
            #expect(try await bench.send(.delete, "/api/notifications/\(id)").status == .noContent)
            #expect(try await bench.store.record(id, sender: "clinic") == first)
        }
    }

    @Test func `What was read or has expired can be revoked`() async throws {
        try await withDirectory { bench in
            let read = try await bench.stored()
            try await bench.store.markRead(read, at: .now)
            let expired = try await bench.stored { $0.expiresAt = .now - .seconds(1) }
            for id in [read, expired] {
                #expect(try await bench.send(.delete, "/api/notifications/\(id)").status == .noContent)
                #expect(try await bench.status(of: id).object()["Status"] as? String == "revoked")
            }
        }
    }

    @Test func `Another's is the same 404 and stays`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            let unknown = try await bench.send(.delete, "/api/notifications/\(NotificationID())")
            let malformed = try await bench.send(.delete, "/api/notifications/x")
            let another = try await bench.send(.delete, "/api/notifications/\(id)", authorization: bench.lab)
            for answer in [unknown, malformed, another] {
                try answer.expectProblem(404)
                #expect(try answer.withoutInstance() == unknown.withoutInstance())
            }
            #expect(try await bench.store.record(id, sender: "clinic")?.revokedAt == nil)
        }
    }
}
