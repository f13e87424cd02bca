import Foundation
import Foundations
import StackKit
import TestSupport
import Testing

/// Every HTTP service, with and without TLS, driven by clients that nobody here wrote, in HTTP/1.0, 1.1 and 2.
@Suite("HTTP clients", .serialized, .broker, .timeLimit(.minutes(10)))
struct HTTPClientTests {
    @Test(arguments: [false, true])
    func `Every service answers every client`(_ isTLS: Bool) async throws {
        try await withStack { stack in
            let scheme = isTLS ? "https" : "http"
            let settings = isTLS ? try await tls(stack.folder) : [:]
            let ingest = try await stack.start("ingest", settings)
            let retrieval = try await stack.start("retrieval", settings)
            let others = [
                try await stack.start("dispatcher", settings), try await stack.start("hub-emulator", settings),
            ]
            for probe in HTTPProbe.available where probe.isFor(TLS: isTLS) {
                func send(
                    _ method: String, _ service: RunningService, _ path: String, _ headers: [String] = [],
                    _ body: String? = nil
                ) async throws -> HTTPProbe.Answer {
                    try await probe.send(
                        method, "\(scheme)://127.0.0.1:\(service.port)\(path)", headers: headers, body: body,
                        in: stack.folder)
                }
                // Each request of Java's is a start of its virtual machine.
                for service in probe.isJava ? [] : [ingest, retrieval] + others {
                    let alive = try await send("GET", service, "/livez")
                    #expect(alive.status == 200 && alive.body.contains("alive"), "\(probe) \(service.process.name)")
                    let head = try await send("HEAD", service, "/livez")
                    #expect(head.status == 200 && head.body.utf8.allSatisfy { $0 == UInt8(ascii: "\n") }, "\(probe)")
                }
                for service in [ingest, retrieval] {
                    let nothing = try await send("GET", service, "/api/nothing")
                    #expect(nothing.status == 404 && nothing.body.contains("There is nothing at this path"))
                }
                try await sendAndRead(probe, stack, send, ingest, retrieval)
                if probe == .curlHTTP2 { try await sendLongTokens(send, retrieval) }
            }
        }
    }

    private typealias Send = (String, RunningService, String, [String], String?) async throws -> HTTPProbe.Answer

    /// A notification and a batch, each with an announced body, and their fetch.
    private func sendAndRead(
        _ probe: HTTPProbe, _ stack: Stack, _ send: Send, _ ingest: RunningService, _ retrieval: RunningService
    ) async throws {
        let key = "Authorization: Bearer \(stack.apiKey)"
        let json = "Content-Type: application/json"
        let body = #"{"Recipient":"alice","Payload":"by \#(probe)"}"#
        let sent = try await send("POST", ingest, "/api/notifications", [key, json, "Expect: 100-continue"], body)
        #expect(sent.status == 201, "\(probe): \(sent)")
        let id = try #require(JSONValue(text: sent.body)?["Id"]?.text, "\(probe): \(sent)")
        let alice = "Authorization: Bearer \(stack.token(of: "alice"))"
        // Any case of the ID is the same notification.
        let read = try await send("GET", retrieval, "/api/notifications/\(id.uppercased())", [alice], nil)
        #expect(read.status == 200 && read.body.contains("by \(probe)"), "\(probe): \(read)")
        let lines = "\(body)\n{}\n"
        let batch = try await send(
            "POST", ingest, "/api/notifications/batch",
            [key, "Content-Type: application/x-ndjson", "Expect: 100-continue"], lines)
        // The raw socket also shows the chunks around the lines.
        let results = batch.body.split(separator: "\n").filter { $0.hasPrefix("{") }
        #expect(batch.status == 200 && results.count == 2 && results[1].contains("422"), "\(probe): \(batch)")
        // Java 17 waits for ever for the answer to such a request if it is refused at once; Java 25 does not.
        let expectation = probe.isJava ? [] : ["Expect: 100-continue"]
        let refused = try await send(
            "POST", ingest, "/api/notifications", ["Authorization: Bearer wrong", json] + expectation, body)
        #expect(refused.status == 401, "\(probe): \(refused)")
        let coded = try await send(
            "POST", ingest, "/api/notifications", [key, json, "Content-Encoding: gzip"], body)
        #expect(coded.status == 415, "\(probe): \(coded)")
    }

    /// Case 32 over HTTP/2, where a longer head than we announce ends the connection.
    private func sendLongTokens(_ send: Send, _ retrieval: RunningService) async throws {
        for (length, status) in [(16_000, 401), (17_000, 431), (40_000, 431)] {
            // Letters that compress little (RFC 7541, appendix B), so that the head has several frames.
            let token = "Authorization: Bearer " + String(repeating: "Zq7_", count: length / 4)
            let answer = try await send("GET", retrieval, "/api/notifications", [token], nil)
            #expect(answer.status == status, "\(length): \(answer)")
        }
    }

    private func tls(_ folder: URL) async throws -> [String: String] {
        let (certificate, key) = (folder.appending(path: "server.pem").path, folder.appending(path: "server.key").path)
        try await run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                certificate,
            ])
        return ["TLS_CERTIFICATE_FILE": certificate, "TLS_PRIVATE_KEY_FILE": key]
    }
}
