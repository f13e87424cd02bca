import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

@Suite("POST /api/notifications, accepted", .bothWays)
struct CreateNotificationTests {
    @Test func `One recipient is answered with the ID, the location and the times`() async throws {
        try await withIngest { bench in
            let before = Timestamp.now
            let answer = try await bench.post(#"{"Recipient":"al\u0069ce","Payload":{"a":1}}"#)
            #expect(answer.status == .created)
            #expect(answer.headers[.contentType] == "application/json")
            let members = try answer.object()
            #expect(Set(members.keys) == ["Id", "Recipient", "Status", "CreatedAt", "ExpiresAt"])
            let text = try #require(members["Id"] as? String)
            let id = try #require(NotificationID(text))
            #expect(id.description == text)
            #expect(answer.headers[.location] == "/api/notifications/\(text)")
            #expect(members["Recipient"] as? String == "alice")
            #expect(members["Status"] as? String == "accepted")
            let createdAt = try #require((members["CreatedAt"] as? String).flatMap { Timestamp(rfc3339: $0) })
            #expect(createdAt >= before && createdAt <= .now)
            // RETENTION of the bench: an hour.
            #expect(members["ExpiresAt"] as? String == (createdAt + .seconds(3600)).description)
        }
    }

    @Test func `Many recipients get a list with an ID each`() async throws {
        try await withIngest { bench in
            let answer = try await bench.post(#"{"Recipients":["a","b","a"],"Payload":null}"#)
            #expect(answer.status == .created)
            #expect(answer.headers[.location] == nil)
            let members = try answer.object()
            #expect(Set(members.keys) == ["Notifications"])
            let list = try #require(members["Notifications"] as? [[String: String]])
            #expect(list.map { $0["Recipient"] } == ["a", "b", "a"])
            let ids = list.compactMap { $0["Id"].flatMap { NotificationID($0) } }
            #expect(Set(ids).count == 3)
            for (id, name) in zip(ids, ["a", "b", "a"]) {
                #expect(try await bench.payload(id, of: name) == "null")
            }
        }
    }

    /// Only what is published at once has a first message, and nothing is while there is no broker.
    @Test(arguments: [(true, "", 1), (true, #","NotBefore":"2099-01-01T00:00:00Z""#, 0), (false, "", 0)])
    func `The first attempt is claimed`(_ isConnected: Bool, _ member: String, _ expected: Int) async throws {
        try await withIngest(publisher: FakePublisher(isConnected: isConnected)) { bench in
            let body = #"{"Recipient":"alice","Payload":1,"ExpiresAt":"2100-01-01T00:00:00Z"\#(member)}"#
            let answer = try await bench.post(body)
            #expect(answer.status == .created)
            let id = try #require((try answer.object()["Id"] as? String).flatMap { NotificationID($0) })
            let plans = try await bench.store.begin([id], now: .now - .seconds(60)).plans
            #expect(plans.count == expected)
            // Before its NotBefore nobody can claim it.
            let time = try #require(Timestamp(rfc3339: "2099-01-01T00:00:00Z"))
            #expect(try await bench.store.claim([id], now: time)[id]?.attempt == expected + 1)
        }
    }

    @Test func `The sender's expiry is kept`() async throws {
        try await withIngest { bench in
            let answer = try await bench.post(
                #"{"recipient":"alice","PAYLOAD":1,"expiresat":"2100-01-01T01:00:00+01:00"}"#)
            #expect(answer.status == .created)
            #expect(try answer.object()["ExpiresAt"] as? String == "2100-01-01T00:00:00.000Z")
        }
    }

    @Test(arguments: ["application/json", "application/json; charset=utf-8", #"Application/JSON;charset="UTF-8""#])
    func `JSON may have a charset, in any case`(_ contentType: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.post(#"{"Recipient":"alice","Payload":1}"#, contentType: contentType)
            #expect(answer.status == .created)
        }
    }

    @Test func `The broker may be down`() async throws {
        try await withIngest(publisher: FakePublisher(isConnected: false)) { bench in
            let answer = try await bench.post(#"{"Recipient":"alice","Payload":1}"#)
            #expect(answer.status == .created)
            #expect(try await bench.store.backlog(now: .now).count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `A user sends the confirmation to itself`(byPassword: Bool) async throws {
        try await withIngest { bench in
            let credentials = byPassword ? bench.credentials.basic : bench.credentials.bearer
            let answer = try await bench.post("", authorization: credentials, contentType: nil)
            #expect(answer.status == .created)
            let members = try answer.object()
            #expect(members["Recipient"] as? String == "alice")
            let id = try #require((members["Id"] as? String).flatMap { NotificationID($0) })
            #expect(answer.headers[.location] == "/api/notifications/\(id)")
            #expect(try await bench.payload(id, of: "alice") == #""Secure confirmation.""#)
        }
    }
}

extension IngestBench {
    /// The text that a stored payload opens to.
    func payload(_ id: NotificationID, of name: String) async throws -> String {
        let user = try #require(UserName(name))
        let stored = try #require(try await store.find(id, recipient: user))
        return String(decoding: try sealer.open(try #require(stored.payload), id: id, recipient: user), as: UTF8.self)
    }
}
