import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

@Suite("GET /api/notifications")
struct NotificationListTests {
    @Test func `Nothing is an empty list`() async throws {
        try await withDirectory { bench in
            _ = try await bench.stored { $0.sender = "lab" }
            let answer = try await bench.send(.get, "/api/notifications")
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.headers[.cacheControl] == "no-store")
            #expect(answer.text == #"{"Notifications":[]}"#)
        }
    }

    @Test func `A listed notification has exactly these members`() async throws {
        try await withDirectory { bench in
            let created = Timestamp(milliseconds: 1_800_000_000_000)
            let id = try await bench.stored {
                $0.recipient = UserName("zoë \"z\"")!
                $0.createdAt = created
                $0.expiresAt = created + .seconds(86_400 * 365)
            }
            let common =
                #"{"Id":"\#(id)","Recipient":"zoë \"z\"","Status":"STATUS","CreatedAt":"2027-01-15T08:00:00.000Z","#
                + #""ExpiresAt":"2028-01-15T08:00:00.000Z""#
            let unread = try await bench.send(.get, "/api/notifications").text
            #expect(
                unread == #"{"Notifications":["# + common.replacing("STATUS", with: "accepted") + "}]}")
            try await bench.store.markRead(id, at: created + .seconds(1))
            let read = try await bench.send(.get, "/api/notifications").text
            #expect(
                read == #"{"Notifications":["# + common.replacing("STATUS", with: "read")
                    + #","ReadAt":"2027-01-15T08:00:01.000Z"}]}"#)
        }
    }

    @Test func `Pages follow each other newest first`() async throws {
        try await withDirectory { bench in
            var ids: [NotificationID] = []
            for number in 0..<7 {
                ids.append(
                    try await bench.stored {
                        $0.id = NotificationID(at: Timestamp(milliseconds: 1_800_000_000_000 + Int64(number)))
                    })
                _ = try await bench.stored { $0.sender = "lab" }
            }
            var uri = "/api/notifications?Limit=3"
            var pages: [[String]] = []
            while pages.count < 10 {
                let page = try await bench.send(.get, uri).object()
                let found = try #require(page["Notifications"] as? [[String: Any]])
                pages.append(found.compactMap { $0["Id"] as? String })
                guard let next = page["Next"] as? String else { break }
                uri = "/api/notifications?Limit=3&Before=\(next)"
            }
            let newest = Array(ids.map(\.description).reversed())
            #expect(pages == [Array(newest[0..<3]), Array(newest[3..<6]), Array(newest[6...])])
        }
    }

    @Test func `A page holds fifty unless a limit says otherwise`() async throws {
        try await withDirectory { bench in
            for _ in 0..<201 { _ = try await bench.stored() }
            for (query, count) in [("", 50), ("?Limit=1", 1), ("?limit=200", 200), ("?Limit=050", 50)] {
                let page = try await bench.send(.get, "/api/notifications" + query).object()
                #expect((page["Notifications"] as? [Any])?.count == count)
                #expect(page["Next"] is String)
            }
        }
    }

    @Test(arguments: [
        ("a+b", ["a b"]), ("a%20b", ["a b"]), ("a%2Bb", ["a+b"]), ("%C3%A9", ["\u{E9}"]), ("e%CC%81", ["e\u{301}"]),
        ("x%26y%3Dz", ["x&y=z"]), ("%61lice", ["alice"]), ("Alice", []), ("1=1", ["1=1"]),
    ])
    func `One recipient's notifications are found`(_ encoded: String, _ found: [String]) async throws {
        try await withDirectory { bench in
            for name in ["a b", "a+b", "\u{E9}", "e\u{301}", "x&y=z", "alice", "1=1"] {
                _ = try await bench.stored { $0.recipient = UserName(name)! }
            }
            let page = try await bench.send(.get, "/api/notifications?rECIPIENT=\(encoded)").object()
            let names = (page["Notifications"] as? [[String: Any]])?.compactMap { $0["Recipient"] as? String }
            #expect(names?.map { Array($0.utf8) } == found.map { Array($0.utf8) })
        }
    }

    @Test(arguments: NotificationStatus.allCases)
    func `The notifications of one status are found`(_ status: NotificationStatus) async throws {
        try await withDirectory { bench in
            let ids = try await bench.oneOfEachStatus()
            let page = try await bench.send(.get, "/api/notifications?Status=\(status.rawValue)").object()
            let found = try #require(page["Notifications"] as? [[String: Any]])
            #expect(found.map { $0["Id"] as? String } == [ids[status]?.description])
            #expect(found.map { $0["Status"] as? String } == [status.rawValue])
        }
    }

    @Test(arguments: [
        ("Limit=0", ["/Limit"]), ("Limit=201", ["/Limit"]), ("Limit=", ["/Limit"]), ("Limit=-1", ["/Limit"]),
        ("Limit=+5", ["/Limit"]), ("Limit=1e1", ["/Limit"]), ("Limit=99999999999999999999", ["/Limit"]),
        ("Limit", ["/Limit"]), ("Before=1", ["/Before"]), ("Before=", ["/Before"]),
        ("before=0199c8f0-0000-7000-8000-00000000000", ["/Before"]), ("Status=sent", ["/Status"]),
        ("Status=Queued", ["/Status"]), ("Recipient=", ["/Recipient"]), ("Recipient=%00", ["/Recipient"]),
        ("Recipient=%FF", ["/Recipient"]), ("Recipient=%4", ["/Recipient"]), ("Recipient=%zz", ["/Recipient"]),
        ("Limit=1&limit=2", ["/Limit"]), ("Status=read&Status=read", ["/Status"]), ("Foo=1", ["/Foo"]),
        ("a/b~=1", ["/a~1b~0"]), ("%FF=1", [""]), ("After=1", ["/After"]),
        ("Limit=x&Before=y&Status=z&Recipient=%07&Other=", ["/Before", "/Limit", "/Other", "/Recipient", "/Status"]),
    ])
    func `Every offending parameter is named in 422`(_ query: String, _ pointers: [String]) async throws {
        try await withDirectory { bench in
            let answer = try await bench.send(.get, "/api/notifications?" + query)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
        }
    }

    @Test(arguments: ["?", "?&", "?Limit=5&"])
    func `Empty parts of a query say nothing`(_ query: String) async throws {
        try await withDirectory { bench in
            let answer = try await bench.send(.get, "/api/notifications" + query)
            #expect(answer.status == .ok)
        }
    }
}

extension DirectoryBench {
    /// Stores one notification of every status.
    fileprivate func oneOfEachStatus() async throws -> [NotificationStatus: NotificationID] {
        var ids: [NotificationStatus: NotificationID] = [:]
        for status in NotificationStatus.allCases {
            let id = try await stored { if status == .expired { $0.expiresAt = .now - .seconds(1) } }
            ids[status] = id
            let states: [DeliveryState]
            switch status {
            case .queued: states = [.sent, .retrying]
            case .dispatched: states = [.sent, .sent]
            case .partial: states = [.sent, .dead]
            case .failed: states = [.dead, .dead]
            case .accepted, .read, .expired, .revoked: states = []
            }
            if !states.isEmpty {
                let deliveries = zip([Platform.apple, .fcmv1], states)
                try await record(deliveries.map { Delivery(platform: $0, state: $1, updatedAt: .now) }, of: id)
            }
            if status == .read { try await store.markRead(id, at: .now) }
            if status == .revoked { _ = try await store.revoke(id, sender: "clinic", now: .now) }
        }
        return ids
    }
}
