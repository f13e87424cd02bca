import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

/// The lines that each route of retrieval writes to the audit log.
@Suite struct AuditedRouteTests {
    private func facts(_ bench: RetrievalBench) throws -> [String] {
        try FileContent(path: bench.folder + "/audit.log").text.split(separator: "\n").dropFirst().map { text in
            let line = try #require(JSONValue(text: String(text)))
            return ["actor", "action", "id", "result"].map { line[$0]?.text ?? "-" }.joined(separator: " ")
        }
    }

    @Test func `Devices, keys and tokens are on record`() async throws {
        try await withRetrieval(refreshTTL: .seconds(600), hasAuditLog: true) { bench in
            let alice = try bench.token(), bob = try bench.token("bob")
            let body = #"{"platform":"apns","pushChannel":"H1"}"#
            #expect(try await bench.install("phone-1", body).status == .ok)
            #expect(try await bench.install("phone-1", "{}").status == .unprocessableContent)
            let key = try #require(
                EncryptionKey(point: ES256Key().publicPoint))
            #expect(
                try await bench.request(.put, "/api/devices/phone-1/key", by: alice, body: key.jwk).status == .noContent
            )
            let taken = try await bench.request(.delete, "/api/installations/phone-1", by: bob)
            #expect(taken.status == .notFound)
            let created = try await bench.request(.post, "/api/register", by: alice)
            let id = try #require(JSONValue(text: created.text)?.text)
            #expect(try await bench.request(.get, "/api/installations", by: alice).status == .ok)
            #expect(try await bench.request(.delete, "/api/devices", by: alice).status == .noContent)
            let logIn = try await bench.request(.post, "/api/token", by: bench.basic())
            let refresh = try #require(JSONValue(text: logIn.text)?["refresh_token"]?.text)
            let again = try await bench.request(
                .post, "/api/token", by: nil,
                body: #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#)
            #expect(again.status == .ok)
            // Once its successor is used, the first token is that of a thief.
            let second = try #require(JSONValue(text: again.text)?["refresh_token"]?.text)
            let third = try await bench.request(
                .post, "/api/token", by: nil,
                body: #"{"grant_type":"refresh_token","refresh_token":"\#(second)"}"#)
            #expect(third.status == .ok)
            let reused = try await bench.request(
                .post, "/api/token", by: nil,
                body: #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#)
            #expect(reused.status == .unauthorized)
            let other = try await bench.request(.post, "/api/token", by: bench.basic())
            let ended = try #require(JSONValue(text: other.text)?["refresh_token"]?.text)
            let end = try await bench.request(
                .delete, "/api/token", by: nil, body: #"{"refresh_token":"\#(ended)"}"#)
            #expect(end.status == .noContent)
            let wrong = try await bench.request(.post, "/api/token", by: bench.basic("alice", "a wrong one"))
            #expect(wrong.status == .unauthorized)
            #expect(
                try facts(bench) == [
                    "alice device.register phone-1 ok", "alice device.register phone-1 invalid",
                    "alice device.key phone-1 ok", "bob device.remove phone-1 refused",
                    "alice device.register \(id) ok",
                    "alice device.remove-all - ok", "alice token.issue - ok", "alice token.issue alice ok",
                    "alice token.issue alice ok", "- token.issue alice refused", "alice token.issue - ok",
                    "- token.revoke alice ok",
                    "- token.issue - refused",
                ])
            let text = try FileContent(path: bench.folder + "/audit.log").text
            for secret in ["H1", refresh, ended, alice, bob, "correct horse", "a wrong one"] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }

    @Test func `Each payload is a read, and a list without payloads is none`() async throws {
        try await withRetrieval(hasAuditLog: true) { bench in
            let first = try await bench.accept(#""one""#)
            let second = try await bench.accept(#""two""#)
            let alice = try bench.token()
            for path in ["/api/notifications", "/api/notifications/\(first)", "/api/notifications?include=payload"] {
                #expect(try await bench.request(.get, path, by: alice).status == .ok)
            }
            #expect(try await bench.request(.get, "/api/notifications", by: nil).status == .unauthorized)
            let shown = try await bench.request(.post, "/api/notifications/\(first)/shown", by: alice)
            #expect(shown.status == .noContent)
            let marked = try await bench.request(
                .post, "/api/notifications/read", by: alice, body: #"{"Ids":["\#(second)","\#(first)"]}"#)
            #expect(marked.status == .noContent)
            let facts = try facts(bench)
            #expect(facts.first == "alice read \(first) ok")
            #expect(Set(facts.dropFirst().prefix(2)) == ["alice read \(first) ok", "alice read \(second) ok"])
            #expect(
                facts.dropFirst(3) == [
                    "- inbox - refused", "alice mark-read \(second) ok", "alice mark-read \(first) ok",
                ])
        }
    }

    /// Without a line, an operator or a device could ask unseen what is there.
    @Test func `HEAD has its line, opens nothing and marks nothing`() async throws {
        try await withRetrieval(hasAuditLog: true) { bench in
            let id = try await bench.accept(#""a payload of some length""#)
            let alice = try bench.token()
            let head = try await bench.request(.head, "/api/notifications/\(id)", by: alice)
            #expect(head.status == .ok && head.text.isEmpty)
            let unread = try await bench.request(.head, "/api/notifications/\(id)?include=unread", by: alice)
            let foreign = try await bench.request(.head, "/api/notifications/\(id)", by: try bench.token("bob"))
            #expect(unread.status == .ok && foreign.status == .notFound)
            let page = "/api/notifications?include=payload"
            #expect(try await bench.request(.head, page, by: alice).status == .ok)
            #expect(try await bench.request(.head, "/api/notifications", by: alice).status == .ok)
            #expect(
                try facts(bench) == [
                    "alice read.head \(id) ok", "alice read.head \(id) ok", "bob read.head \(id) refused",
                    "alice read.head \(id) ok",
                ])
            let get = try await bench.request(.get, "/api/notifications/\(id)", by: alice)
            #expect(JSONValue(text: get.text)?["Read"]?.json == "false")
            // The length is that of the first GET, as RFC 9110 (9.3.2) has it.
            #expect(head.headers[.contentLength] == "\(get.text.utf8.count)")
        }
    }

    @Test func `While the log cannot be written, no payload is read`() async throws {
        try await withRetrieval(hasAuditLog: true) { bench in
            let id = try await bench.accept(#""one""#)
            let alice = try bench.token()
            let path = bench.folder + "/audit.log"
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            // This request finds the fault, and its line waits.
            #expect(try await bench.request(.get, "/api/notifications/\(id)", by: nil).status == .unauthorized)
            for path in ["/api/notifications/\(id)", "/api/notifications?include=payload"] {
                #expect(try await bench.request(.get, path, by: alice).status == .serviceUnavailable, "\(path)")
            }
            let list = try await bench.request(.get, "/api/notifications", by: alice)
            #expect(list.status == .ok)
            #expect(JSONValue(text: list.text)?["Unread"]?.number == 1)
            try FileManager.default.removeItem(atPath: path)
            let page = try await bench.request(.get, "/api/notifications?include=payload", by: alice)
            #expect(page.status == .ok)
            let lines = try FileContent(path: path).text
            #expect(lines.contains(#""action":"read","id":"\#(id)","result":"ok""#))
        }
    }
}
