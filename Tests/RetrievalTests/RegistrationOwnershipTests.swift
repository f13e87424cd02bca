import APITestSupport
import Domain
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("/api/register: whose device it is, and what the hub says")
struct RegistrationOwnershipTests {
    private static let body = #"{"Platform":"apns","Handle":"H"}"#

    @Test func `Another user's ID is not there`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            #expect(try await bench.put(id, Self.body).status == .ok)
            try (try await bench.put(id, Self.body, by: "bob")).expectProblem(404)
            let deletion = try await bench.request(.delete, "/api/register/\(id)", by: try bench.token("bob"))
            try deletion.expectProblem(404)
            try (try await bench.put("unknown-1", Self.body)).expectProblem(404)
            #expect(bench.hub.devices[id]?.tags == ["username:alice"])
        }
    }

    @Test func `Who presents a handle takes it over`() async throws {
        try await withRetrieval { bench in
            let older = try await bench.newID()
            bench.hub.plant("past-us", .init(platform: .gcm, handle: "H", tags: []))
            bench.hub.plant("other", .init(platform: .gcm, handle: "h", tags: []))
            #expect(try await bench.put(older, Self.body).status == .ok)
            let newer = try await bench.newID(by: "bob")
            #expect(try await bench.put(newer, Self.body, by: "bob").status == .ok)
            #expect(Set(bench.hub.devices.keys) == [newer, "other", "past-us"])
            // Devices that were registered past this system: after the answer, once a handle.
            try await bench.searchHub()
            #expect(Set(bench.hub.devices.keys) == [newer, "other"])
            #expect(bench.hub.devices[newer]?.tags == ["username:bob"])
            #expect(try await bench.store.registrations(handle: "H").map(\.id) == [newer])
            try (try await bench.put(older, Self.body)).expectProblem(404)
        }
    }

    @Test func `Asking for an ID with a handle removes its older registrations`() async throws {
        try await withRetrieval { bench in
            let older = try await bench.newID()
            bench.hub.plant("past-us", .init(platform: .gcm, handle: "H", tags: []))
            #expect(try await bench.put(older, Self.body).status == .ok)
            let newer = try await bench.newID("?handle=H", by: "bob")
            #expect(newer != older)
            #expect(Set(bench.hub.devices.keys) == ["past-us"])
            try await bench.searchHub()
            #expect(bench.hub.devices.isEmpty)
            #expect(try await bench.store.registrations(handle: "H").map(\.id) == [newer])
        }
    }

    @Test func `A device that the hub does not accept is 422`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            bench.hub.failPuts(PushGatewayError(.rejected, "HTTP 413", refusal: ""))
            let answer = try await bench.put(id, Self.body)
            try answer.expectProblem(422)
            #expect(try answer.object()["detail"] as? String == "The hub does not accept this device.")
        }
    }

    @Test func `Without a handle nothing is removed`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.put(try await bench.newID(), Self.body).status == .ok)
            _ = try await bench.newID()
            #expect(bench.hub.devices.count == 1)
        }
    }

    @Test(
        arguments: [
            (PushGatewayError(.unavailable, "down"), 503, "1"),
            (PushGatewayError(.throttled, "slow", retryAfter: .seconds(7)), 503, "7"),
            (PushGatewayError(.rejected, "no"), 502, nil), (PushGatewayError(.unauthorized, "who?"), 502, nil),
        ] as [(PushGatewayError, Int, String?)])
    func `The hub's failures are passed on`(_ error: PushGatewayError, _ code: Int, _ retryAfter: String?) async throws
    {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            bench.hub.fail(error)
            for answer in [
                try await bench.request(.post, "/api/register?handle=H", by: try bench.token()),
                try await bench.request(.post, "/api/register", by: try bench.token()),
                try await bench.put(id, Self.body),
                try await bench.request(.delete, "/api/register/\(id)", by: try bench.token()),
            ] {
                try answer.expectProblem(code)
                #expect(answer.headers[.retryAfter] == retryAfter)
            }
            // Nothing was forgotten here that is still in the hub.
            bench.hub.fail(nil)
            #expect(try await bench.put(id, Self.body).status == .ok)
        }
    }
}
