import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("GET /api/notifications")
struct InboxTests {
    private static let start = Timestamp(milliseconds: 1_700_000_000_000)

    private func time(_ second: Int) -> Timestamp { Self.start + .seconds(second) }

    @Test func `The answer is exact`() async throws {
        try await withRetrieval { bench in
            let empty = try await bench.inbox()
            #expect(empty.status == .ok)
            #expect(empty.text == #"{"Notifications":[],"Unread":0}"#)
            let older = try await bench.accept("1", createdAt: time(1))
            let newer = try await bench.accept("2", createdAt: time(2))
            _ = try await bench.accept("3", for: "bob", createdAt: time(3))
            _ = try await bench.read(older)
            let answer = try await bench.inbox("?Limit=1")
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.headers[.cacheControl] == "no-store")
            #expect(
                answer.text == """
                    {"Notifications":[{"Id":"\(older)","CreatedAt":"2023-11-14T22:13:21.000Z","Read":true}],\
                    "Unread":1,"Next":"\(older)"}
                    """)
            let rest = try await bench.inbox("?limit=1&AFTER=\(older)")
            #expect(
                rest.text == """
                    {"Notifications":[{"Id":"\(newer)","CreatedAt":"2023-11-14T22:13:22.000Z","Read":false}],\
                    "Unread":1}
                    """)
        }
    }

    @Test func `The list marks nothing`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            for method in [HTTPRequest.Method.get, .head] {
                let answer = try await bench.request(method, "/api/notifications", by: try bench.token())
                #expect(answer.status == .ok)
            }
            #expect(try await bench.read(id).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test(arguments: [("?Unread=true", 1), ("?unread=TRUE", 1), ("?Unread=false", 2), ("", 2), ("?", 2)])
    func `Only unread ones are listed if the query says so`(_ query: String, _ count: Int) async throws {
        try await withRetrieval { bench in
            let read = try await bench.accept("1")
            _ = try await bench.read(read)
            let unread = try await bench.accept("2")
            let ids = try await bench.inbox(query).listedIDs()
            #expect(ids.count == count)
            #expect(ids.contains(unread.description))
        }
    }

    @Test func `What cannot be read is not there`() async throws {
        try await withRetrieval { bench in
            _ = try await bench.accept("1", expiresAt: .now - .milliseconds(1))
            let revoked = try await bench.accept("2")
            #expect(try await bench.store.revoke(revoked, sender: "clinic", now: .now))
            #expect(try await bench.inbox().text == #"{"Notifications":[],"Unread":0}"#)
        }
    }

    @Test func `A page has fifty unless a limit says otherwise`() async throws {
        try await withRetrieval { bench in
            var ids: [String] = []
            for second in 0..<51 { ids.append(try await bench.accept("1", createdAt: time(second)).description) }
            #expect(try await bench.inbox().listedIDs() == Array(ids.prefix(50)))
            #expect(try await bench.inbox("?Limit=200").listedIDs() == ids)
            let last = try await bench.inbox("?After=\(ids[49])")
            #expect(try last.listedIDs() == [ids[50]])
            #expect(try last.object()["Next"] == nil)
            #expect(try last.object()["Unread"] as? Int == 51)
        }
    }

    @Test(
        arguments: [
            ("Limit=0", ["/Limit"]), ("Limit=201", ["/Limit"]), ("Limit=", ["/Limit"]), ("Limit=+5", ["/Limit"]),
            ("Limit=-1", ["/Limit"]), ("Limit=5x", ["/Limit"]), ("Limit=99999999999999999999", ["/Limit"]),
            ("Unread=1", ["/Unread"]), ("Unread", ["/Unread"]), ("After=42", ["/After"]),
            ("After=0191e2a0-0000-7000-8000-00000000000", ["/After"]), ("Before=1", ["/Before"]),
            ("limit=1&Limit=2", ["/Limit"]), ("Unread=true&unread=true", ["/Unread"]),
            ("Page=1&Limit=0&After=x&Unread=maybe", ["/After", "/Limit", "/Page", "/Unread"]),
        ] as [(String, [String])])
    func `Offending parameters are named`(_ query: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.inbox("?" + query)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
        }
    }
}

extension RetrievalBench {
    /// The inbox of `alice`.
    fileprivate func inbox(_ query: String = "") async throws -> TestResponse {
        try await request(.get, "/api/notifications" + query, by: try token())
    }
}
