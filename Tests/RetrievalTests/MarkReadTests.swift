import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Retrieval

@Suite("POST /api/notifications/read")
struct MarkReadTests {
    @Test func `The named ones are marked without a fetch`() async throws {
        try await withRetrieval { bench in
            let ids = [try await bench.accept("1"), try await bench.accept("2"), try await bench.accept("3")]
            let answer = try await bench.markRead(#"{"Ids":["\#(ids[0])","\#(ids[2])","\#(ids[0])"]}"#)
            #expect(answer.status == .noContent && answer.body.readableBytes == 0)
            #expect(try await bench.readTimes(of: ids).map { $0 != nil } == [true, false, true])
            // Marking does not destroy the payload, and the first time stays.
            let times = try await bench.readTimes(of: ids)
            #expect(try await bench.get(ids[0]).text.hasSuffix(#""Payload":1,"Read":true}"#))
            _ = try await bench.markRead(#"{"ids":["\#(ids[0])"],"Through":null}"#)
            #expect(try await bench.readTimes(of: ids) == times)
        }
    }

    @Test func `Through one everything up to it is marked`() async throws {
        try await withRetrieval { bench in
            var ids: [NotificationID] = []
            for second in 0..<4 { ids.append(try await bench.accept("1", createdAt: .now - .seconds(60 - second))) }
            #expect(try await bench.markRead(#"{"Through":"\#(ids[2])","Ids":null}"#).status == .noContent)
            #expect(try await bench.readTimes(of: ids).map { $0 != nil } == [true, true, true, false])
        }
    }

    /// Unknown, of another user, expired, revoked, and before its time: the answers are the same to the byte.
    @Test func `What is not yours changes nothing and cannot be told apart`() async throws {
        try await withRetrieval { bench in
            let own = try await bench.accept("1", createdAt: .now - .seconds(60))
            let others = try await bench.accept("1", for: "bob")
            let expired = try await bench.accept("1", createdAt: .now - .seconds(90), expiresAt: .now - .seconds(1))
            let early = try await bench.accept("1", notBefore: .now + .seconds(600))
            let unknown = NotificationID()
            var seen: Set<String> = []
            for id in [others, unknown, early] {
                for body in [#"{"Ids":["\#(id)"]}"#, #"{"Through":"\#(id)"}"#] {
                    let answer = try await bench.markRead(body)
                    #expect(answer.status == .noContent)
                    let headers = answer.headers.filter { !["x-request-id", "date"].contains($0.name.canonicalName) }
                    seen.insert("\(answer.text) \(headers.map(\.description).sorted())")
                }
            }
            #expect(seen.count == 1, "\(seen)")
            _ = try await bench.markRead(#"{"Ids":["\#(expired)"]}"#)
            #expect(try await bench.readTimes(of: [own, others, expired, early]) == [nil, nil, nil, nil])
            // One of them does not spoil the rest.
            _ = try await bench.markRead(#"{"Ids":["\#(others)","\#(unknown)","\#(own)","\#(early)"]}"#)
            #expect(try await bench.readTimes(of: [own]) != [nil])
            #expect(try await bench.readTimes(of: [others, early]) == [nil, nil])
        }
    }

    @Test func `A thousand are taken and no more`() async throws {
        try await withRetrieval { bench in
            let own = try await bench.accept("1")
            let ids = (0..<999).map { _ in "\"\(NotificationID())\"" } + ["\"\(own)\""]
            let tooMany = try await bench.markRead(#"{"Ids":[\#((ids + ids.prefix(1)).joined(separator: ","))]}"#)
            try tooMany.expectProblem(422)
            #expect(try tooMany.pointers() == ["/Ids"])
            #expect(try await bench.readTimes(of: [own]) == [nil])
            #expect(try await bench.markRead(#"{"Ids":[\#(ids.joined(separator: ", "))]}"#).status == .noContent)
            #expect(try await bench.readTimes(of: [own]) != [nil])
            #expect(try await bench.markRead(#"{"Ids":[]}"#).status == .noContent)
        }
    }

    private static let id = "019aa4a2-1c9b-7c3e-9f4e-2f6f1d0a8b11"

    @Test(
        arguments: [
            ("{}", [""]), ("[]", [""]), ("null", [""]), (#"{"Ids":null}"#, [""]),
            (#"{"Ids":null,"Through":null}"#, [""]), (#"{"Ids":["\#(id)"],"Through":"\#(id)"}"#, ["/Through"]),
            (#"{"Ids":"\#(id)"}"#, ["/Ids"]), (#"{"Ids":{}}"#, ["/Ids"]),
            (#"{"Ids":[1,"\#(id)",null]}"#, ["/Ids/0", "/Ids/2"]),
            (#"{"Ids":["x"]}"#, ["/Ids/0"]), (#"{"Ids":["019aa4a2-1c9b-7c3e-9f4e-2f6f1d0a8b1"]}"#, ["/Ids/0"]),
            (#"{"Through":["\#(id)"]}"#, ["/Through"]), (#"{"Through":""}"#, ["/Through"]),
            (#"{"Through":7}"#, ["/Through"]), (#"{"Through":"\#(id)","Until":1}"#, ["/Until"]),
            (#"{"Through":"\#(id)","through":"\#(id)"}"#, ["/Through"]), (#"{"Id":"\#(id)"}"#, ["", "/Id"]),
        ] as [(String, [String])])
    func `Offending members are named`(_ body: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let own = try await bench.accept("1")
            let answer = try await bench.markRead(body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers, "\(answer.text)")
            #expect(try await bench.readTimes(of: [own]) == [nil])
        }
    }

    @Test func `Other bodies are refused`() async throws {
        try await withRetrieval { bench in
            try (try await bench.markRead("")).expectProblem(400)
            try (try await bench.markRead(#"{"Ids":["#)).expectProblem(400)
            try (try await bench.markRead(#"{"Ids":[]}"#, contentType: "text/plain")).expectProblem(415)
            try (try await bench.markRead(#"{"Ids":[]}"#, contentType: nil)).expectProblem(415)
            let large = #"{"Ids":[]}"# + String(repeating: " ", count: 65_536)
            try (try await bench.markRead(large)).expectProblem(413)
            try (try await bench.request(.post, "/api/notifications/read", by: nil, body: "{")).expectProblem(401)
        }
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .put, .delete, .options])
    func `Other methods are 405`(_ method: HTTPRequest.Method) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.request(method, "/api/notifications/read", by: try bench.token())
            #expect(answer.status == .methodNotAllowed && answer.headers[.allow] == "POST")
        }
    }
}

extension RetrievalBench {
    /// Marks notifications of `alice` as read.
    fileprivate func markRead(_ body: String, contentType: String? = "application/json") async throws -> TestResponse {
        try await request(.post, "/api/notifications/read", by: try token(), body: body, contentType: contentType)
    }

    /// When each was first read.
    func readTimes(of ids: [NotificationID]) async throws -> [Timestamp?] {
        let records = try await store.records(ids)
        return ids.map { records[$0]?.readAt }
    }
}
