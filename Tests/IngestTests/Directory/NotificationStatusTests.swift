import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import Ingest

@Suite("GET /api/notifications/{id}/status")
struct NotificationStatusTests {
    @Test func `Before the first attempt every platform is pending`() async throws {
        try await withDirectory { bench in
            let created = Timestamp(milliseconds: 1_800_000_000_123)
            let id = try await bench.stored {
                $0.createdAt = created
                $0.expiresAt = created + .seconds(86_400 * 365)
            }
            let answer = try await bench.status(of: id)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.headers[.cacheControl] == "no-store")
            let time = "2027-01-15T08:00:00.123Z"
            let pending = ["apple", "fcmv1", "windows"].map {
                #"{"Platform":"\#($0)","State":"pending","Attempts":0,"UpdatedAt":"\#(time)"}"#
            }
            #expect(
                answer.text == #"{"Id":"\#(id)","Status":"accepted","CreatedAt":"\#(time)","RegisteredDevices":0,"#
                    + #""Deliveries":["#
                    + pending.joined(separator: ",") + "]}")
        }
    }

    @Test func `Only the platforms asked for are owed`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored { $0.platforms = [.windows] }
            let deliveries = try await bench.deliveries(of: id)
            #expect(deliveries.map { $0["Platform"] as? String } == ["windows"])
        }
    }

    @Test func `Everything on record is told`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored { $0.createdAt = Timestamp(milliseconds: 1_800_000_000_000) }
            let time = Timestamp(milliseconds: 1_800_000_060_000)
            try await bench.record(
                [
                    Delivery(
                        platform: .apple, state: .sent, attempts: 1, hubMessageID: "hub-1", updatedAt: time,
                        outcome: "Success=2, BadChannel=1"),
                    Delivery(
                        platform: .fcmv1, state: .retrying, attempts: 2, error: "503 \"busy\"\n", updatedAt: time),
                ], of: id)
            let answer = try await bench.status(of: id)
            let at = #""UpdatedAt":"2027-01-15T08:01:00.000Z"}"#
            #expect(
                answer.text
                    == #"{"Id":"\#(id)","Status":"queued","CreatedAt":"2027-01-15T08:00:00.000Z","#
                    + #""RegisteredDevices":0,"Deliveries":["#
                    + #"{"Platform":"apple","State":"sent","Attempts":1,"HubMessageId":"hub-1","#
                    + #""Outcome":"Success=2, BadChannel=1","#
                    + at
                    + #",{"Platform":"fcmv1","State":"retrying","Attempts":2,"Error":"503 \"busy\"\n","# + at
                    + #",{"Platform":"windows","State":"pending","Attempts":0,"UpdatedAt":"2027-01-15T08:00:00.000Z"}"#
                    + "]}")
        }
    }

    @Test(arguments: [
        ([DeliveryState.sent, .sent], "dispatched"), ([.sent, .skipped], "dispatched"), ([.sent, .dead], "partial"),
        ([.dead, .dead], "failed"), ([.sent, .retrying], "queued"), ([.dead, .retrying], "queued"),
    ])
    func `Deliveries add up to a status`(_ states: [DeliveryState], _ status: String) async throws {
        try await withDirectory { bench in
            let id = try await bench.stored { $0.platforms = [.apple, .fcmv1] }
            let deliveries = zip([Platform.apple, .fcmv1], states).map {
                Delivery(platform: $0, state: $1, attempts: 1, updatedAt: .now)
            }
            try await bench.record(deliveries, of: id)
            let answer = try await bench.status(of: id).object()
            #expect(answer["Status"] as? String == status)
            let told = try await bench.deliveries(of: id)
            #expect(told.map { $0["State"] as? String } == states.map(\.rawValue))
        }
    }

    /// So a sender sees that nobody has the name that it wrote.
    @Test func `The devices of the recipient are counted`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            let owner = try #require(try await bench.store.record(id, sender: "clinic")).recipient
            let other = try #require(UserName("somebody else"))
            try await bench.store.save(
                Installation(id: "i1", owner: owner, platform: .apple, handle: "1", document: [], updatedAt: .now))
            try await bench.store.save(
                Installation(id: "i2", owner: other, platform: .apple, handle: "2", document: [], updatedAt: .now))
            #expect(try await bench.status(of: id).object()["RegisteredDevices"] as? Int == 1)
        }
    }

    @Test func `A claimed notification is queued`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            _ = try await bench.store.claim([id], now: .now)
            let answer = try await bench.status(of: id).object()
            #expect(answer["Status"] as? String == "queued")
            #expect(try await bench.deliveries(of: id).count == 3)
        }
    }

    @Test func `A read notification says when`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            let time = Timestamp.now
            try await bench.store.markRead(id, at: time)
            let answer = try await bench.status(of: id).object()
            #expect(Set(answer.keys) == ["Id", "Status", "CreatedAt", "ReadAt", "RegisteredDevices", "Deliveries"])
            #expect(answer["Status"] as? String == "read")
            #expect(answer["ReadAt"] as? String == time.description)
        }
    }

    @Test func `A shown notification says when`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            let time = Timestamp.now
            try await bench.store.markShown(id, at: time)
            let answer = try await bench.status(of: id).object()
            #expect(Set(answer.keys) == ["Id", "Status", "CreatedAt", "ShownAt", "RegisteredDevices", "Deliveries"])
            #expect(answer["ShownAt"] as? String == time.description)
        }
    }

    @Test func `Devices that have shown it are listed, the newest first`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            let alice = try #require(UserName("alice"))
            let time = Timestamp.now
            let reports = [DeviceReport(text: .secret), DeviceReport(text: .generic, code: "SP-KEY", sdk: "web/1")]
            for (number, report) in reports.enumerated() {
                try await bench.store.save(
                    Installation(
                        id: "d-\(number)", owner: alice, platform: .apple, handle: "h-\(number)", document: [],
                        updatedAt: time))
                let platform = try await bench.store.report(
                    report, of: id, by: "d-\(number)", owner: alice, now: time + .seconds(number))
                #expect(platform == "apple")
            }
            let text = try await bench.status(of: id).text
            let expected =
                #""Devices":[{"DeviceId":"d-1","Platform":"apple","ShownAt":"\#(time + .seconds(1))","Text":"generic","#
                + #""Code":"SP-KEY"},{"DeviceId":"d-0","Platform":"apple","ShownAt":"\#(time)","Text":"secret"}],"#
            #expect(text.contains(expected), "\(text)")
        }
    }

    @Test func `What is expired or revoked owes nothing`() async throws {
        try await withDirectory { bench in
            let expired = try await bench.stored { $0.expiresAt = .now - .seconds(1) }
            let revoked = try await bench.stored()
            _ = try await bench.store.revoke(revoked, sender: "clinic", now: .now)
            for (id, status) in [(expired, "expired"), (revoked, "revoked")] {
                let answer = try await bench.status(of: id).object()
                #expect(answer["Status"] as? String == status)
                #expect((answer["Deliveries"] as? [Any])?.isEmpty == true)
            }
        }
    }

    @Test func `What is not there and what is another's are the same`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            let ofAUser = try await bench.stored { $0.sender = "user:alice" }
            let paths = [
                "\(NotificationID())", "\(ofAUser)", "\(ofAUser)".uppercased(), "\(id)".replacing("-", with: ""), "1",
                "%00", "..", "\(id)%20",
            ]
            var texts: Set<String> = []
            for path in paths {
                let answer = try await bench.send(.get, "/api/notifications/\(path)/status")
                try answer.expectProblem(404)
                #expect(answer.headers[.cacheControl] == "no-store")
                texts.insert(try answer.withoutInstance())
            }
            let another = try await bench.status(of: id, authorization: bench.lab)
            try another.expectProblem(404)
            texts.insert(try another.withoutInstance())
            #expect(texts.count == 1, "\(texts)")
        }
    }

    @Test func `HEAD answers with the headers of GET`() async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            for uri in ["/api/notifications/\(id)/status", "/api/notifications"] {
                let answer = try await bench.send(.head, uri)
                #expect(answer.status == .ok)
                #expect(answer.headers[.contentType] == "application/json")
                #expect(answer.headers[.cacheControl] == "no-store")
                #expect(answer.body.readableBytes == 0)
            }
        }
    }
}

@Suite("Who may ask what became of notifications")
struct DirectoryAccessTests {
    static let requests: [(HTTPRequest.Method, String)] = [
        (.get, "/api/notifications/ID/status"), (.get, "/api/notifications"), (.delete, "/api/notifications/ID"),
        (.head, "/api/notifications"),
    ]

    @Test(arguments: requests)
    func `Unknown callers are 401`(_ method: HTTPRequest.Method, _ path: String) async throws {
        try await withDirectory { bench in
            let id = try await bench.stored()
            // With a path that says nothing too: who is nobody is told nothing.
            for uri in [path.replacing("ID", with: "\(id)"), path.replacing("ID", with: "x"), path + "?Limit=x"] {
                for authorization in ["", "Bearer spk_wrong"] {
                    let answer = try await bench.send(method, uri, authorization: authorization)
                    #expect(answer.status == .unauthorized, "\(uri)")
                    #expect(!answer.headers[values: .wwwAuthenticate].isEmpty)
                    #expect(answer.headers[.cacheControl] == "no-store")
                }
            }
            #expect(try await bench.store.record(id, sender: "clinic")?.revokedAt == nil)
        }
    }

    @Test(arguments: requests)
    func `Users are 403`(_ method: HTTPRequest.Method, _ path: String) async throws {
        try await withDirectory { bench in
            // A user's own confirmation is not the user's to manage either.
            let id = try await bench.stored { $0.sender = "user:alice" }
            let answer = try await bench.send(
                method, path.replacing("ID", with: "\(id)"), authorization: bench.credentials.bearer)
            #expect(answer.status == .forbidden)
            #expect(try await bench.store.record(id, sender: "user:alice")?.revokedAt == nil)
        }
    }
}

extension DirectoryBench {
    /// The deliveries that the status answer lists.
    func deliveries(of id: NotificationID) async throws -> [[String: Any]] {
        let answer = try await status(of: id).object()
        return try #require(answer["Deliveries"] as? [[String: Any]])
    }
}

extension TestResponse {
    /// A problem without the ID of its request, in a fixed order.
    func withoutInstance() throws -> String {
        try object().filter { $0.key != "instance" }.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
    }
}
