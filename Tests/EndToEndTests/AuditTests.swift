import Foundation
import Foundations
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// `AUDIT_LOG` of real services and commands that share a file, and `securepush audit verify`.
@Suite("Audit log", .serialized, .broker, .timeLimit(.minutes(5)))
struct AuditTests {
    @Test func `Every read, refusal, registration and change is on record`() async throws {
        try await withStack { stack in
            let file = stack.folder.appending(path: "audit.log").path
            let settings = ["AUDIT_LOG": file]
            let ingest = try await stack.start("ingest", settings)
            let retrieval = try await stack.start("retrieval", settings)
            let dispatcher = try await stack.start("dispatcher", settings)
            try await expectReady(ingest)
            let id = try await ingest.post(#""the secret text""#, to: "alice", stack)
            let (alice, mallory) = (stack.token(of: "alice"), stack.token(of: "mallory"))
            let path = "/api/notifications/\(id)"
            for (token, status) in [(alice, 200), (mallory, 404), ("no-token", 401), (alice, 200)] {
                #expect(try await retrieval.request(.GET, path, bearer: token).status == status)
            }
            let inbox = try await retrieval.request(.GET, "/api/notifications?include=payload", bearer: alice)
            #expect(inbox.status == 200)
            let device = #"{"platform":"apns","pushChannel":"\#(String(repeating: "ab", count: 32))"}"#
            // The stand-in of the hub takes sends only.
            let registered = try await retrieval.request(
                .PUT, "/api/installations/phone-1", bearer: alice, body: device)
            #expect(registered.status == 502, "\(registered.body)")
            let refused = try await ingest.request(
                .POST, "/api/notifications", bearer: "no-key", body: #"{"Recipient":"alice","Payload":1}"#)
            #expect(refused.status == 401)
            #expect(try await ingest.request(.DELETE, path, bearer: stack.apiKey).status == 204)
            try await changeKeys(stack, settings)
            #expect(try await eventually { try text(file).contains(#""action":"key.change""#) })
            for service in [ingest, retrieval, dispatcher] { try await service.drain() }

            let lines = try text(file).split(separator: "\n").map { try #require(JSONValue(text: String($0))) }
            let facts = lines.map { line in
                ["service", "actor", "action", "id", "result"].map { line[$0]?.text ?? "-" }.joined(separator: " ")
            }
            let expected = [
                "retrieval alice read \(id) ok", "retrieval mallory read \(id) refused",
                "retrieval - read \(id) refused", "retrieval alice device.register phone-1 failed",
                "ingest - send - refused", "ingest clinic revoke \(id) ok",
                "ingest - key.change INGEST_API_KEYS_FILE ok",
            ]
            #expect(facts.contains { $0.hasPrefix("dispatcher - service.start ") })
            for fact in expected { #expect(facts.contains(fact), "\(fact) is not in \(facts)") }
            #expect(facts.count { $0 == "retrieval alice read \(id) ok" } == 3)
            for result in ["begun", "ok"] {
                let end = "api-key.add audited \(result)"
                #expect(facts.contains { $0.hasPrefix("securepush local:") && $0.hasSuffix(end) }, "\(end)")
            }
            for line in lines where line["action"]?.text == "read" {
                #expect(line["address"]?.text == "127.0.0.1")
            }
            let all = try text(file)
            for secret in ["secret", alice, mallory, stack.apiKey, "no-token", "no-key", "abab"] {
                #expect(!all.contains(secret), "\(secret)")
            }
            try await expectVerified(stack, file, lines.count)
        }
    }

    private func text(_ path: String) throws -> String { try FileContent(path: path).text }

    /// Adds a sender by the command line, which writes a line, and ingest writes one when it notices the new file.
    private func changeKeys(_ stack: Stack, _ settings: [String: String]) async throws {
        let keys = stack.folder.appending(path: try #require(StackSecrets.settings["INGEST_API_KEYS_FILE"])).path
        let run = try stack.run(
            "securepush", ["api-keys", "add", "audited"], settings.merging(["INGEST_API_KEYS_FILE": keys]) { $1 })
        #expect(try await run.exitCode() == 0, "\(run.standardError)")
    }

    private func expectVerified(_ stack: Stack, _ file: String, _ count: Int) async throws {
        let intact = try stack.run("securepush", ["audit", "verify", file, "--json"], [:])
        #expect(try await intact.exitCode() == 0, "\(intact.standardError)")
        let report = try #require(JSONValue(text: intact.standardOutput))
        #expect(report["Lines"]?.number == Double(count))
        let head = try #require(report["Head"]?.text)
        let found = try stack.run("securepush", ["audit", "verify", file, "--contains", head], [:])
        #expect(try await found.exitCode() == 0 && found.standardOutput.contains("The chain is intact."))
        // Somebody hides who has read it.
        let changed = try text(file).replacing(#""actor":"mallory""#, with: #""actor":"alice""#)
        try Data(changed.utf8).write(to: URL(filePath: file))
        let broken = try stack.run("securepush", ["audit", "verify", file], [:])
        #expect(try await broken.exitCode() == 1)
        #expect(broken.standardError.contains("error: ") && broken.standardError.contains("was changed"))
    }

    @Test func `A path that cannot be written stops the start`() async throws {
        try await withStack { stack in
            let process = try stack.run(
                "retrieval", [], stack.environment.merging(["AUDIT_LOG": "/nowhere/audit.log"]) { $1 })
            #expect(try await process.exitCode() == 78)
            #expect(process.standardError.contains("error: AUDIT_LOG") && process.standardError.contains("Create it"))
        }
    }
}
