import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Retrieval

@Suite("GET /api/notifications?include=payload")
struct InboxPayloadTests {
    private static let start = Timestamp(milliseconds: 1_700_000_000_000)

    private func time(_ second: Int) -> Timestamp { Self.start + .seconds(second) }

    @Test func `The answer is exact`() async throws {
        try await withRetrieval { bench in
            let empty = try await bench.page()
            #expect(empty.text == #"{"Notifications":[],"Unread":0}"#)
            let end = Timestamp.now + .seconds(3600)
            let older = try await bench.accept(#"{"b":1, "a":"\u0041"}"#, createdAt: time(1), expiresAt: end)
            let newer = try await bench.accept("null", createdAt: time(2), expiresAt: end, display: .app)
            _ = try await bench.accept("3", for: "bob", createdAt: time(3))
            let first = try await bench.page("&Limit=1")
            #expect(first.headers[.contentType] == "application/json" && first.headers[.cacheControl] == "no-store")
            #expect(first.headers[.contentLength] == "\(first.body.readableBytes)")
            #expect(
                first.text == """
                    {"Notifications":[{"Id":"\(older)","CreatedAt":"2023-11-14T22:13:21.000Z","Read":false,\
                    "ExpiresAt":"\(end)","Payload":{"b":1, "a":"\\u0041"}}],"Unread":1,"Next":"\(older)"}
                    """)
            let rest = try await bench.page("&After=\(older)")
            #expect(
                rest.text == """
                    {"Notifications":[{"Id":"\(newer)","CreatedAt":"2023-11-14T22:13:22.000Z","Read":false,\
                    "ExpiresAt":"\(end)","Display":"app","Payload":null}],"Unread":0}
                    """)
            let again = try await bench.page()
            #expect(again.text.components(separatedBy: #""Read":true"#).count == 3)
        }
    }

    @Test func `Each entry is marked as by a fetch`() async throws {
        try await withRetrieval { bench in
            var ids: [NotificationID] = []
            for _ in 0..<3 { ids.append(try await bench.accept("1", createdAt: .now - .seconds(3600))) }
            _ = try await bench.get(ids[0])
            let readAt = try await bench.store.record(ids[0], sender: "clinic")?.readAt
            _ = try await bench.page()
            for id in ids { #expect(try await bench.store.record(id, sender: "clinic")?.readAt != nil) }
            #expect(try await bench.store.record(ids[0], sender: "clinic")?.readAt == readAt)
            let lines = bench.metrics.exposition().split(separator: "\n")
            for line in [
                #"securepush_retrievals_total{result="ok"} 4"#, "securepush_inbox_requests_total 1",
                "securepush_time_to_fetch_seconds_count 3",
            ] { #expect(lines.contains { $0 == line }, "\(line)") }
        }
    }

    /// It has the length of GET, which marks ten of eleven and so has a shorter number of unread ones.
    @Test(arguments: ["", "&Limit=10", "&Unread=true&Limit=3"])
    func `HEAD marks nothing`(query: String) async throws {
        try await withRetrieval { bench in
            var ids: [NotificationID] = []
            for number in 0..<11 {
                let display = Display.allCases[number % Display.allCases.count]
                let text = String(repeating: "x", count: number * 50)
                ids.append(try await bench.accept(#""\#(text)""#, display: display))
            }
            _ = try await bench.get(ids[1])
            let path = "/api/notifications?include=payload" + query
            let head = try await bench.request(.head, path, by: try bench.token())
            #expect(head.status == .ok && head.body.readableBytes == 0)
            #expect(try await bench.store.record(ids[0], sender: "clinic")?.readAt == nil)
            #expect(bench.metrics.exposition().contains("securepush_retrievals_total{result=\"ok\"} 1\n"))
            let page = try await bench.page(query)
            #expect(head.headers[.contentLength] == "\(page.body.readableBytes)")
        }
    }

    /// Loading needs more memory than there is, and opening would log an error.
    @Test func `HEAD opens nothing`() async throws {
        let log = KeptLog(.info)
        try await withRetrieval(logger: log.logger, budget: RequestBudget(maxBytes: 1, reservedForSmall: 0)) { bench in
            _ = try await bench.acceptUnopenable()
            let path = "/api/notifications?include=payload"
            #expect(try await bench.request(.head, path, by: try bench.token()).status == .ok)
            let lines = log.lines
            #expect(!lines.joined().contains("could not be opened"))
        }
    }

    @Test func `A page has at most twenty`() async throws {
        try await withRetrieval { bench in
            var ids: [String] = []
            for second in 0..<23 { ids.append(try await bench.accept("1", createdAt: time(second)).description) }
            for query in ["&Limit=200", "&Limit=20", ""] {
                #expect(try await bench.page(query).listedIDs() == Array(ids.prefix(20)))
            }
            #expect(try await bench.page("&After=\(ids[19])").listedIDs() == Array(ids.suffix(3)))
            // The limit of a list without payloads is as ever.
            let list = try await bench.request(.get, "/api/notifications?Limit=200", by: try bench.token())
            #expect(try list.listedIDs().count == 23)
        }
    }

    @Test func `Twenty of the largest fit`() async throws {
        try await withRetrieval { bench in
            let payload = "\"" + String(repeating: "x", count: 256 * 1024 - 2) + "\""
            for _ in 0..<20 { _ = try await bench.accept(payload) }
            let answer = try await bench.page()
            #expect(answer.status == .ok && answer.body.readableBytes > 20 * 256 * 1024)
            let entries = try #require(try answer.object()["Notifications"] as? [[String: Any]])
            #expect(entries.allSatisfy { ($0["Payload"] as? String)?.utf8.count == 256 * 1024 - 2 })
        }
    }

    @Test func `What does not fit is 503 and is not marked`() async throws {
        // Each payload is in memory twice while a page is made.
        let budget = RequestBudget(maxBytes: 200_000, reservedForSmall: 0)
        try await withRetrieval(budget: budget) { bench in
            let payload = "\"" + String(repeating: "x", count: 60_000) + "\""
            let ids = [try await bench.accept(payload), try await bench.accept(payload)]
            let answer = try await bench.page()
            try answer.expectProblem(503)
            #expect(answer.headers[.retryAfter] != nil)
            for id in ids { #expect(try await bench.store.record(id, sender: "clinic")?.readAt == nil) }
            #expect(try await bench.page("&Limit=1").status == .ok)
            #expect(try await bench.page("&Limit=1").status == .ok)
            try await expectEventually { budget.usedBytes == 0 }
        }
    }

    /// The likeliest mistake of a key rotation must not hide what can be opened.
    @Test func `What cannot be opened is listed without its payload and stays unread`() async throws {
        let log = KeptLog(.info)
        try await withRetrieval(logger: log.logger) { bench in
            let first = try await bench.accept(#""one secret""#, createdAt: time(1))
            let lost = try await bench.acceptUnopenable(NotificationID(at: time(2)))
            let last = try await bench.accept(#""another secret""#, createdAt: time(3))
            let answer = try await bench.page()
            #expect(answer.status == .ok)
            let entries = try #require(try answer.object()["Notifications"] as? [[String: Any]])
            #expect(entries.map { $0["Id"] as? String } == [first, lost, last].map(\.description))
            #expect(entries.map { $0["Payload"] as? String } == ["one secret", nil, "another secret"])
            #expect(entries.map { $0["Payload"] == nil } == [false, true, false])
            #expect(try answer.object()["Unread"] as? Int == 1)
            #expect(try await bench.store.record(lost, sender: "clinic")?.readAt == nil)
            let lines = log.lines
            let line = try #require(lines.first { $0.contains("could not be opened") })
            #expect(line.contains("\(lost)") && line.contains("The key ring holds no key"))
            #expect(!lines.joined().contains("secret"))
        }
    }

    /// Between the list and the payloads, another request may take a notification away.
    @Test func `What is gone meanwhile is left out`() async throws {
        let store = memoryStore()
        try await withRetrieval(reader: VanishingReader(base: store)) { bench in
            let user = try #require(UserName("alice"))
            var ids: [NotificationID] = []
            for number in 0..<3 {
                let notification = Notification(
                    sender: "clinic", recipient: user, expiresAt: .now + .seconds(3600))
                let payload = try bench.sealer.seal(Array("\(number)".utf8), id: notification.id, recipient: user)
                try await store.append([SealedNotification(notification: notification, payload: payload)])
                ids.append(notification.id)
            }
            let answer = try await bench.page()
            #expect(try answer.listedIDs() == ids.dropFirst().map(\.description))
            #expect(try answer.object()["Unread"] as? Int == 0)
        }
    }

    @Test(arguments: ["unread", "", "Payload", "payload&include=payload", "payload,unread"])
    func `Another value is 422`(_ value: String) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.request(
                .get, "/api/notifications?include=\(value)", by: try bench.token())
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/include"])
        }
    }
}

/// A store in which the first notification is revoked as soon as the inbox has been listed.
private struct VanishingReader: ForwardingStore {
    let base: any Store

    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        let page = try await base.inbox(
            of: recipient, unreadOnly: unreadOnly, after: after, limit: limit, now: now)
        if let first = page.entries.first { _ = try await base.revoke(first.id, sender: "clinic", now: now) }
        return page
    }
}

extension RetrievalBench {
    /// A page of the inbox of `alice` with payloads.
    fileprivate func page(_ query: String = "") async throws -> TestResponse {
        try await request(.get, "/api/notifications?include=payload" + query, by: try token())
    }
}
