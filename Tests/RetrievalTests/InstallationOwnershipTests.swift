import APITestSupport
import Domain
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("/api/installations/{id}: whose device it is, and what the hub says")
struct InstallationOwnershipTests {
    private static let body = #"{"platform":"apns","pushChannel":"H"}"#

    @Test func `Another user's installation is not there`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", Self.body).status == .ok)
            let before = bench.hub.installations
            let attempts = [
                try await bench.install("1", #"{"platform":"apns","pushChannel":"I"}"#, by: "bob"),
                try await bench.request(.get, "/api/installations/1", by: try bench.token("bob")),
                try await bench.request(.delete, "/api/installations/1", by: try bench.token("bob")),
                try await bench.request(.get, "/api/installations/2", by: try bench.token("bob")),
                try await bench.request(.delete, "/api/installations/2", by: try bench.token("bob")),
            ]
            var details: Set<String> = []
            for answer in attempts {
                try answer.expectProblem(404)
                details.insert(try #require(try answer.object()["detail"] as? String))
            }
            #expect(details.count == 1)
            #expect(bench.hub.installations == before)
        }
    }

    @Test func `Who presents the handle takes the ID over`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", Self.body).status == .ok)
            #expect(try await bench.install("1", Self.body, by: "bob").status == .ok)
            #expect(bench.hub.installations["1"]?.document.contains("username:bob") == true)
            #expect(bench.hub.installations["1"]?.document.contains("alice") == false)
            try (try await bench.request(.get, "/api/installations/1", by: try bench.token())).expectProblem(404)
        }
    }

    @Test func `A handle has one installation`() async throws {
        try await withRetrieval { bench in
            bench.hub.plant("past-us", FakeHub.Installed(handle: "H", document: "{}"))
            bench.hub.plant("other", FakeHub.Installed(handle: "h", document: "{}"))
            #expect(try await bench.install("1", Self.body).status == .ok)
            #expect(try await bench.install("2", Self.body, by: "bob").status == .ok)
            #expect(Set(bench.hub.installations.keys) == ["2", "other", "past-us"])
            // Devices that were registered past this system: after the answer, once a handle.
            try await bench.searchHub()
            #expect(Set(bench.hub.installations.keys) == ["2", "other"])
            #expect(try await bench.store.installation("1") == nil)
        }
    }

    @Test func `Tokens in the other case are the same device`() async throws {
        try await withRetrieval { bench in
            let first = try await bench.install("1", #"{"platform":"apns","pushChannel":"ab12"}"#)
            #expect(first.status == .ok)
            let upper = #"{"platform":"apns","pushChannel":"AB12"}"#
            #expect(try await bench.install("2", upper, by: "bob").status == .ok)
            #expect(Set(bench.hub.installations.keys) == ["2"])
            #expect(try await bench.install("2", #"{"platform":"apns","pushChannel":"ab12"}"#).status == .ok)
            #expect(try await bench.store.installation("2")?.owner.text == "alice")
        }
    }

    @Test func `Takeover crosses both kinds`() async throws {
        try await withRetrieval { bench in
            let registration = try await bench.newID()
            #expect(try await bench.put(registration, #"{"Platform":"apns","Handle":"H"}"#).status == .ok)
            #expect(try await bench.install("1", Self.body, by: "bob").status == .ok)
            #expect(bench.hub.devices.isEmpty)
            #expect(try await bench.store.registrations(handle: "H").isEmpty)
            // And back: by the ID that a device asks for with its handle …
            let newer = try await bench.newID("?handle=H")
            #expect(bench.hub.installations.isEmpty)
            #expect(try await bench.store.installation("1") == nil)
            // … and by its registration.
            #expect(try await bench.install("1", Self.body, by: "bob").status == .ok)
            #expect(try await bench.put(newer, #"{"Platform":"apns","Handle":"H"}"#).status == .ok)
            #expect(bench.hub.installations.isEmpty)
            #expect(try await bench.store.installation("1") == nil)
            #expect(bench.hub.devices[newer]?.tags == ["username:alice"])
        }
    }

    @Test func `A new handle replaces the old one`() async throws {
        try await withRetrieval { bench in
            let first = try await bench.install("1", Self.body)
            #expect(first.status == .ok)
            #expect(try await bench.install("1", #"{"platform":"wns","pushChannel":"I"}"#).status == .ok)
            #expect(bench.hub.installations["1"]?.handle == "I")
            #expect(try await bench.store.installations(handle: "H").isEmpty)
            #expect(try await bench.store.installation("1")?.platform == .windows)
        }
    }

    @Test func `Deleting removes it in the hub and here`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", Self.body).status == .ok)
            let delete = { try await bench.request(.delete, "/api/installations/1", by: try bench.token()) }
            let answer = try await delete()
            #expect(answer.status == .noContent)
            #expect(answer.text.isEmpty)
            #expect(bench.hub.installations.isEmpty)
            try (try await delete()).expectProblem(404)
            // The ID is free again.
            #expect(try await bench.install("1", Self.body, by: "bob").status == .ok)
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
            #expect(try await bench.install("1", Self.body).status == .ok)
            bench.hub.fail(error)
            for answer in [
                try await bench.install("1", Self.body), try await bench.install("2", Self.body),
                try await bench.request(.delete, "/api/installations/1", by: try bench.token()),
            ] {
                try answer.expectProblem(code)
                #expect(answer.headers[.retryAfter] == retryAfter)
            }
            bench.hub.fail(nil)
            // Nothing was forgotten here that is still in the hub, and nothing kept that is not.
            let kept = try await bench.request(.get, "/api/installations/1", by: try bench.token())
            #expect(kept.status == .ok)
            #expect(try await bench.store.installation("2") == nil)
        }
    }

    @Test(
        arguments: [
            ("The host is not allowed", ": The host is not allowed."), ("", "."), ("<b>\u{1F512}</b>", "."),
            ("No channel at https://push.example/1", "."), ("The channel SECRETHANDLE is wrong", "."),
            (String(repeating: "a", count: 41), "."),
        ])
    func `A device that the hub does not accept gets its reason, without a handle`(_ reason: String, _ end: String)
        async throws
    {
        try await withRetrieval { bench in
            bench.hub.failPuts(PushGatewayError(.rejected, "HTTP 400: \(reason)", refusal: reason))
            let answer = try await bench.install("1", #"{"platform":"gcm","pushChannel":"secretHandle"}"#)
            try answer.expectProblem(422)
            #expect(try answer.object()["detail"] as? String == "The hub does not accept this device" + end)
            #expect(try await bench.store.installation("1") == nil)
            #expect(bench.hub.installations.isEmpty)
        }
    }

    @Test func `What the hub refuses of another device says nothing of this one`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", Self.body).status == .ok)
            bench.hub.failDeletions(PushGatewayError(.rejected, "no", refusal: "no"))
            try (try await bench.install("2", Self.body)).expectProblem(502)
        }
    }

    @Test func `A put that the hub refuses keeps what was there`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", Self.body).status == .ok)
            bench.hub.failPuts(PushGatewayError(.rejected, "no"))
            try (try await bench.install("1", #"{"platform":"apns","pushChannel":"I"}"#)).expectProblem(502)
            #expect(try await bench.store.installation("1")?.handle == "H")
            #expect(bench.hub.installations["1"]?.handle == "H")
        }
    }
}
