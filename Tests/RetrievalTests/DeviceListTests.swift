import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Testing

@testable import Retrieval

@Suite("A user's devices: the list, and removing all of them")
struct DeviceListTests {
    private static func body(_ handle: String, more: String = "") -> String {
        #"{"platform":"apns","pushChannel":"\#(handle)"\#(more)}"#
    }

    private func list(_ bench: RetrievalBench, _ query: String = "", by name: String = "alice") async throws
        -> (entries: [[String: Any]], next: String?)
    {
        let answer = try await bench.request(.get, "/api/installations" + query, by: try bench.token(name))
        #expect(answer.status == .ok)
        #expect(answer.headers[.cacheControl] == "no-store")
        let document = try answer.object()
        return (try #require(document["Installations"] as? [[String: Any]]), document["Next"] as? String)
    }

    @Test func `The list has the caller's installations in the hub's form with two times`() async throws {
        try await withRetrieval { bench in
            #expect(try await list(bench).entries.isEmpty)
            for id in ["b", "a"] { #expect(try await bench.install(id, Self.body(id)).status == .ok) }
            #expect(try await bench.install("other", Self.body("o"), by: "bob").status == .ok)
            _ = try await bench.newID()
            let page = try await list(bench)
            #expect(page.entries.compactMap { $0["installationId"] as? String } == ["a", "b"] && page.next == nil)
            let stored = try #require(try await bench.store.installation("a"))
            let entry = page.entries[0]
            #expect(entry["UpdatedAt"] as? String == "\(stored.updatedAt)")
            #expect(entry["LastSeenAt"] as? String == "\(stored.lastSeenAt.startOfDay)")
            #expect((entry["LastSeenAt"] as? String)?.hasSuffix("T00:00:00.000Z") == true)
            #expect(entry["pushChannel"] as? String == "a" && entry["tags"] as? [String] == ["username:alice"])
            #expect(try await list(bench, by: "bob").entries.count == 1)
        }
    }

    /// The router takes `/api/installations/` for the list.
    @Test(arguments: [
        "/api/installations/", "/api/installations//", "/api/notifications/",
    ])
    func `A read of an empty ID is 404, not the list`(path: String) async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("a")).status == .ok)
            for method in [HTTPRequest.Method.get, .head] {
                let answer = try await bench.request(method, path, by: try bench.token("alice"))
                #expect(answer.status == .notFound)
            }
            #expect(try await list(bench, "?Limit=1").entries.count == 1)
        }
    }

    @Test func `A renewal without a change is seen and is no update`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("H")).status == .ok)
            let first = try #require(try await bench.store.installation("a"))
            while Timestamp.now <= first.lastSeenAt { await Task.yield() }
            #expect(try await bench.install("A", Self.body("H")).status == .ok)
            let renewed = try #require(try await bench.store.installation("a"))
            #expect(renewed.updatedAt == first.updatedAt && renewed.lastSeenAt > first.lastSeenAt)
            #expect(try await bench.install("a", Self.body("H", more: #","tags":["x"]"#)).status == .ok)
            let changed = try #require(try await bench.store.installation("a"))
            #expect(changed.updatedAt > first.updatedAt)
        }
    }

    @Test(arguments: [1, 19, 20, 21, 100]) func `Pages are complete`(limit: Int) async throws {
        try await withRetrieval { bench in
            let ids = (0..<45).map { "i\(String(100 + $0))" }
            for id in ids { #expect(try await bench.install(id, Self.body(id)).status == .ok) }
            var found: [String] = []
            var next: String?
            repeat {
                let page = try await list(bench, "?Limit=\(limit)" + (next.map { "&After=\($0)" } ?? ""))
                #expect(page.entries.count <= limit)
                found += page.entries.compactMap { $0["installationId"] as? String }
                #expect(page.next == nil || page.next == found.last)
                next = page.next
            } while next != nil
            #expect(found == ids)
        }
    }

    @Test func `A page of large installations ends early`() async throws {
        try await withRetrieval { bench in
            let text = String(repeating: "x", count: 60_000)
            for number in 0..<20 {
                let more = #","pushVariables":{"v":"\#(text)"}"#
                #expect(try await bench.install("i\(10 + number)", Self.body("\(number)", more: more)).status == .ok)
            }
            let first = try await list(bench)
            #expect((10..<20).contains(first.entries.count))
            let second = try await list(bench, "?After=\(try #require(first.next))")
            #expect(first.entries.count + second.entries.count == 20 && second.next == nil)
        }
    }

    @Test(
        arguments: [
            ("Limit=0", "/Limit"), ("Limit=101", "/Limit"), ("Limit=-1", "/Limit"),
            ("Limit=99999999999999999999", "/Limit"),
            ("Limit=1&limit=2", "/Limit"), ("After=", "/After"), ("After=..", "/After"), ("After=a%2Fb", "/After"),
            ("After=a%00", "/After"), ("Before=a", "/Before"), ("After=%FF", "/After"),
        ]) func `Every mistake in a query is named in 422`(_ query: String, _ pointer: String) async throws
    {
        try await withRetrieval { bench in
            let answer = try await bench.request(.get, "/api/installations?\(query)", by: try bench.token())
            try answer.expectProblem(422)
            let errors = try #require(try answer.object()["errors"] as? [[String: Any]])
            #expect(errors.compactMap { $0["pointer"] as? String } == [pointer])
        }
    }

    @Test func `Removing all takes everything of the caller and nothing else`() async throws {
        try await withRetrieval { bench in
            for number in 0..<30 {
                #expect(try await bench.install("i\(number)", Self.body("\(number)")).status == .ok)
            }
            let registration = try await bench.newID()
            #expect(try await bench.put(registration, #"{"Platform":"apns","Handle":"R"}"#).status == .ok)
            _ = try await bench.newID()
            #expect(try await bench.install("other", Self.body("o"), by: "bob").status == .ok)
            for _ in 0..<2 {
                let answer = try await bench.request(.delete, "/api/devices", by: try bench.token())
                #expect(answer.status == .noContent && answer.text.isEmpty)
            }
            #expect(Set(bench.hub.installations.keys) == ["other"] && bench.hub.devices.isEmpty)
            #expect(try await bench.store.installations(after: nil, limit: 99).map(\.id) == ["other"])
            #expect(try await bench.store.registrations(after: nil, limit: 99).isEmpty)
            #expect(bench.removed("user") == 32)
        }
    }

    @Test(arguments: [
        (PushGatewayError.Code.unavailable, 503), (.throttled, 503), (.rejected, 502), (.unauthorized, 502),
    ])
    func `A failure of the hub is said and the request can be repeated`(_ code: PushGatewayError.Code, _ status: Int)
        async throws
    {
        try await withRetrieval { bench in
            for id in ["a", "b", "c"] { #expect(try await bench.install(id, Self.body(id)).status == .ok) }
            bench.hub.failDeletions(PushGatewayError(code, "for the test"))
            let refused = try await bench.request(.delete, "/api/devices", by: try bench.token())
            try refused.expectProblem(status)
            // Nothing leaves the store that the hub may still have.
            #expect(try await bench.store.installations(after: nil, limit: 9).count == 3)
            bench.hub.failDeletions(nil)
            let answer = try await bench.request(.delete, "/api/devices", by: try bench.token())
            #expect(answer.status == .noContent)
            #expect(bench.hub.installations.isEmpty)
            #expect(try await bench.store.installations(after: nil, limit: 9).isEmpty)
        }
    }

    @Test func `Without credentials nothing is shown or removed`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("a")).status == .ok)
            let calls: [(HTTPRequest.Method, String)] = [(.get, "/api/installations"), (.delete, "/api/devices")]
            for (method, path) in calls {
                for authorization in [nil, bench.basic("alice", "wrong"), "Bearer x"] {
                    try (try await bench.request(method, path, by: authorization)).expectProblem(401)
                }
            }
            #expect(bench.hub.installations.count == 1)
        }
    }
}

extension RetrievalBench {
    /// How many devices were removed for a reason.
    func removed(_ reason: String) -> Int? {
        let name = #"securepush_devices_removed_total{reason="\#(reason)"} "#
        let line = metrics.exposition().split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) }
    }
}
