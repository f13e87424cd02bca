import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Operator

/// The lines that the operator's page writes to the audit log.
@Suite("The operator's page in the audit log")
struct OperatorAuditTests {
    @Test func `Looks, changes and refusals are on record`() async throws {
        try await withTemporaryFolderURL { folder in
            let path = folder.appending(path: "audit.log").path
            try await withOperator(hasPassword: true, auditLog: path) { bench in
                let id = try await bench.stored()
                try await bench.record([OperatorBench.delivery(.apple, .dead, "HTTP 400: x")], of: id)
                let operatorsOwn: HTTPFields = [.authorization: OperatorBench.credentials]
                #expect(try await bench.get("/admin/api/overview", headers: operatorsOwn).status == .ok)
                #expect(try await bench.get("/admin/api/notifications/\(id)", headers: operatorsOwn).status == .ok)
                #expect(try await bench.get("/admin/api/notifications/\(id)").status == .unauthorized)
                let search = try await bench.post(
                    "/admin/api/notifications/search", #"{"Recipient":"alice"}"#, headers: operatorsOwn)
                #expect(search.status == .ok)
                let resend = try await bench.post(
                    "/admin/api/notifications/\(id)/resend", "{}", headers: operatorsOwn)
                #expect(resend.status == .ok)
                bench.queues.add(id, reason: "expired")
                let replay = try await bench.post(
                    "/admin/api/dead-letters/replay", #"{"Ids":["\#(id)"]}"#, headers: operatorsOwn)
                #expect(replay.status == .ok)
                let failures = try await bench.post(
                    "/admin/api/failures/resend", #"{"Reason":"HTTP 400"}"#, headers: operatorsOwn)
                #expect(failures.status == .ok)
                let expected = [
                    "admin operator.look \(id) ok", "- operator.look \(id) refused", "admin operator.search alice ok",
                    "admin operator.resend \(id) ok", "admin operator.replay \(id) ok",
                    "admin operator.resend-failures HTTP 400 ok",
                ]
                let lines = try FileContent(path: path).text.split(separator: "\n").dropFirst()
                let facts = try lines.map { text in
                    let line = try #require(JSONValue(text: String(text)))
                    #expect(line["address"]?.text == "127.0.0.1" || line["address"]?.text == "::1")
                    return ["actor", "action", "id", "result"].map { line[$0]?.text ?? "-" }.joined(separator: " ")
                }
                #expect(facts == expected)
            }
        }
    }
}
