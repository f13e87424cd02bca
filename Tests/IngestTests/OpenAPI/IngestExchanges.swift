import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceConfiguration
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Ingest

/// Every operation of the ingest API with every status that can be brought about within one process.
struct IngestExchanges: Sendable {
    let bench: IngestBench
    let ledger: APILedger

    static let least = #"{"Recipient":"alice","Payload":"Your results are in."}"#
    static let sends = "/api/notifications"
    static let batches = "/api/notifications/batch"
    static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    static func run() async throws -> APILedger {
        let ledger = APILedger()
        try await withIngest(readiness: [ReadinessCheck(name: "database") { nil }]) { bench in
            let exchanges = IngestExchanges(bench: bench, ledger: ledger)
            try await exchanges.operations()
            try await exchanges.sending()
            try await exchanges.batch()
            try await exchanges.directory()
            try await exchanges.followUps()
            try await exchanges.answers()
            try await exchanges.recipientKeys()
            try await exchanges.examples()
            try await exchanges.refusedForTheirTokens()
            try await exchanges.throttled()
        }
        let limit = try #require(RateLimit(configurationText: "1/h"))
        try await withIngest(userLimit: RateLimiter("user", limit)) { bench in
            let exchanges = IngestExchanges(bench: bench, ledger: ledger)
            try await exchanges.call(201, .post, Self.sends, by: bench.credentials.bearer)
            try await exchanges.call(429, .post, Self.sends, by: bench.credentials.bearer)
        }
        let outbox = ReadinessDetail(name: "outbox") { [("pending", 3), ("oldest_age_seconds", 60)] }
        try await withIngest(readiness: [ReadinessCheck(name: "database") { "away" }], details: [outbox]) { bench in
            try await IngestExchanges(bench: bench, ledger: ledger).call(503, .get, "/readyz", by: "")
        }
        for (status, code) in [(503, StorageError.Code.unavailable), (500, .failed)] {
            let error = StorageError(code, "for the test")
            let directory = AwayStore(error)
            try await withIngest(writer: FakeWriter(failure: error), directory: directory, keys: directory) { bench in
                try await IngestExchanges(bench: bench, ledger: ledger).failures(status)
            }
        }
        let writer = FakeWriter(isHolding: true)
        try await withIngest(writer: writer) { bench in
            try await IngestExchanges(bench: bench, ledger: ledger).conflict(writer)
        }
        return ledger
    }

    /// - Parameter authorization: the sender's unless given; empty leaves the header out.
    @discardableResult func call(
        _ status: Int, _ method: HTTPRequest.Method, _ uri: String, _ body: String = "",
        by authorization: String? = nil,
        type: String? = nil, _ more: HTTPFields = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        var headers = more
        let authorization = authorization ?? bench.credentials.sender
        if !authorization.isEmpty { headers[.authorization] = authorization }
        headers[.contentType] = type ?? (body.isEmpty ? nil : "application/json")
        return try await ledger.send(
            bench.client, method, uri, headers: headers, body: body, expecting: status, sourceLocation: sourceLocation)
    }

    private func operations() async throws {
        for path in ["/livez", "/readyz", "/metrics", "/version", "/openapi.json"] {
            try await call(200, .get, path, by: "")
            try await call(200, .head, path, by: "")
            try await call(405, .post, path, by: "")
        }
        try await call(404, .get, "/nothing", by: "")
        for path in [Self.sends, "\(Self.sends)/1/status"] { try await call(405, .put, path, by: "") }
    }

    private func sending() async throws {
        let everything = #"""
            {"Recipient":"bob","Payload":[null,1.10],"Presentation":"alert","Alert":{"Title":"New","Body":null},
            "Platforms":["fcmv1"],"ExpiresAt":"2999-01-01T00:00:00Z","NotBefore":"2998-01-01T00:00:00+01:00",
            "CollapseKey":"results","Priority":"normal","Remind":["1m","1.5h"],"Display":"app",
            "Answers":["approve","a-1"],"Challenge":"4Zz"}
            """#
        let nothing = #"""
            {"Recipient":"bob","Payload":null,"Presentation":null,"Alert":null,"Platforms":null,"ExpiresAt":null,
            "NotBefore":null,"CollapseKey":null,"Priority":null,"Remind":null,"Display":null,
            "Answers":null,"Challenge":null}
            """#
        let trace = try #require(HTTPField.Name("traceparent"))
        let requestID = try #require(HTTPField.Name("X-Request-Id"))
        try await call(201, .post, Self.sends, everything, [trace: Self.traceparent, requestID: "req-7f3a"])
        try await call(201, .post, Self.sends, nothing)
        try await call(201, .post, Self.sends, #"{"Recipients":["alice","bob"],"Payload":{}}"#)
        try await call(201, .post, Self.sends, by: bench.credentials.bearer)
        for _ in 1...2 { try await call(201, .post, Self.sends, Self.least, [.idempotencyKey: "key-1"]) }
        try await call(422, .post, Self.sends, #"{"Recipient":"bob","Payload":1}"#, [.idempotencyKey: "key-1"])
        try await call(422, .post, Self.sends, #"{"Alert":{"Text":1},"Limit":2}"#)
        try await call(400, .post, Self.sends, #"{"Recipient":"#)
        try await call(400, .post, Self.sends)
        try await call(400, .post, Self.sends, Self.least, [.idempotencyKey: "a b"])
        try await call(401, .post, Self.sends, Self.least, by: "")
        try await call(401, .post, Self.sends, Self.least, by: "Bearer nobody")
        try await call(403, .post, Self.sends, Self.least, by: bench.credentials.bearer)
        let payload = String(repeating: "x", count: CreateNotificationRequest.Limit.maxPayloadBytes + 1)
        try await call(413, .post, Self.sends, #"{"Recipient":"alice","Payload":"\#(payload)"}"#)
        let body = String(repeating: " ", count: CreateNotificationRequest.Limit.maxBodyBytes + 1)
        try await call(413, .post, Self.sends, body)
        try await call(415, .post, Self.sends, Self.least, type: "text/plain")
    }

    private func batch() async throws {
        let ndjson = "application/x-ndjson"
        let lines = [Self.least, #"{"Recipients":["alice","bob"],"Payload":1}"#, "{}", "no JSON"].joined(
            separator: "\n")
        try await call(200, .post, Self.batches, lines, type: ndjson)
        for _ in 1...2 { try await call(200, .post, Self.batches, lines, type: ndjson, [.idempotencyKey: "key-2"]) }
        try await call(400, .post, Self.batches, lines, type: ndjson, [.idempotencyKey: "a b"])
        try await call(401, .post, Self.batches, lines, by: "", type: ndjson)
        try await call(403, .post, Self.batches, lines, by: bench.credentials.bearer, type: ndjson)
        try await call(415, .post, Self.batches, lines)
        try await call(405, .get, Self.batches, by: "")
    }

    /// A notification with reminders that was pushed and then revoked, as its status shows it before and after.
    private func followUps() async throws {
        let id = try await bench.id(
            of: call(201, .post, Self.sends, #"{"Recipient":"alice","Payload":1,"Remind":["1m"]}"#))
        let plan = try #require(try await bench.store.claim([id], now: .now)[id])
        let sent = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now)
        try await bench.store.record([
            DispatchOutcome(id: id, attempt: plan.attempt, deliveries: [sent], pushedAt: .now)
        ])
        let path = "\(Self.sends)/\(id)"
        try await call(200, .get, "\(path)/status")
        try await call(204, .delete, path)
        let withdrawal = FollowUp(id: id, kind: .withdrawal)
        let claimed = try #require(try await bench.store.claimFollowUps([withdrawal], now: .now).plans[withdrawal])
        try await bench.store.recordFollowUps([
            FollowUpOutcome(followUp: withdrawal, attempt: claimed.attempt, deliveries: [sent])
        ])
        try await call(200, .get, "\(path)/status")
    }

    /// The statuses of an answered notification, and of one whose challenges were wrong.
    private func answers() async throws {
        let alice = try #require(UserName("alice"))
        for isFailed in [false, true] {
            let body = #"{"Recipient":"alice","Payload":1,"Answers":["approve"],"Challenge":"42"}"#
            let id = try await bench.id(of: call(201, .post, Self.sends, body))
            if isFailed {
                for _ in 0..<3 { _ = try await bench.store.countWrongChallenge(id) }
            } else {
                let text = try bench.sealer.seal(Array("Yes.".utf8), id: id, recipient: alice, as: .answer)
                let answer = Answer(action: "approve", text: text, at: .now, deviceID: "phone-1")
                _ = try await bench.store.answer(id, answer, textUntil: .now)
            }
            try await call(200, .get, "\(Self.sends)/\(id)/status")
        }
    }

    private func directory() async throws {
        let id = try await bench.id(of: call(201, .post, Self.sends, Self.least))
        let attempt = try await bench.store.claim([id], now: .now)[id]?.attempt ?? 0
        let deliveries = [
            Delivery(
                platform: .apple, state: .sent, attempts: 1, hubMessageID: "m-1", updatedAt: .now, outcome: "Success"),
            Delivery(platform: .fcmv1, state: .dead, attempts: 2, error: "refused", updatedAt: .now),
            Delivery(platform: .windows, state: .sent, updatedAt: .now, coalescedInto: NotificationID()),
        ]
        try await bench.store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
        try await bench.store.markRead(id, at: .now)
        try await bench.store.markShown(id, at: .now)
        let alice = try #require(UserName("alice"))
        for (device, report) in [
            ("shown-1", DeviceReport(text: .secret)), ("shown-2", DeviceReport(text: .generic, code: "SP-KEY")),
        ] {
            try await bench.store.save(
                Installation(id: device, owner: alice, platform: .apple, handle: device, document: [], updatedAt: .now))
            _ = try await bench.store.report(report, of: id, by: device, owner: alice, now: .now)
        }
        let path = "\(Self.sends)/\(id)"
        let pages = ["", "?Limit=1", "?Recipient=alice&Status=read&Limit=200", "?Before=\(id)"]
        let absent = NotificationID()
        for method in [HTTPRequest.Method.get, .head] {
            try await call(200, method, "\(path)/status")
            for page in pages { try await call(200, method, Self.sends + page) }
        }
        try await call(422, .get, "\(Self.sends)?Limit=0&Before=x&Status=gone&Recipient=&Cursor=1")
        // Only now: what is owed again has no error any more.
        for status in [202, 409] { try await call(status, .post, "\(path)/resend") }
        try await call(404, .post, "\(Self.sends)/\(absent)/resend")
        try await call(404, .get, "\(Self.sends)/\(absent)/status")
        try await call(404, .delete, "\(Self.sends)/\(absent)")
        for _ in 1...2 { try await call(204, .delete, path) }
        for (method, uri) in [
            (HTTPRequest.Method.get, Self.sends), (.get, "\(path)/status"), (.delete, path),
            (.post, "\(path)/resend"),
        ] {
            try await call(401, method, uri, by: "")
            try await call(403, method, uri, by: bench.credentials.bearer)
        }
    }

    private func recipientKeys() async throws {
        let owner = try #require(UserName("alice"))
        try await bench.store.save(
            Installation(id: "phone-1", owner: owner, platform: .apple, handle: "h", document: [], updatedAt: .now))
        let key = try #require(EncryptionKey(point: ES256Key().publicPoint))
        let isKnown = try await bench.store.setEncryptionKey(key, of: "phone-1", owner: owner, now: .now)
        #expect(isKnown)
        for name in ["alice", "nobody"] {
            for method in [HTTPRequest.Method.get, .head] { try await call(200, method, Self.keys(of: name)) }
        }
        try await call(404, .get, Self.keys(of: "%00"))
        try await call(401, .get, Self.keys(of: "alice"), by: "")
        try await call(403, .get, Self.keys(of: "alice"), by: bench.credentials.bearer)
        try await call(405, .put, Self.keys(of: "alice"), by: "")
    }

    private static func keys(of name: String) -> String { "/api/recipients/\(name)/keys" }

    /// The document's own.
    private func examples() async throws {
        let answer = try await call(200, .get, "/openapi.json", by: "")
        let description = APIDescription(try JSONNode(answer.body.readableBytesView))
        let examples = description.requestExamples("post", Self.sends)
        #expect(examples.count == 2)
        for example in examples { try await call(201, .post, Self.sends, try example.json()) }
        for example in description.requestExamples("post", Self.batches) {
            let lines = try #require(example.text)
            let answer = try await call(200, .post, Self.batches, lines, type: "application/x-ndjson")
            for result in try answer.results() { #expect(result["Status"] as? String == "accepted") }
        }
    }

    /// Longer than any that is accepted.
    private func refusedForTheirTokens() async throws {
        let token = "Bearer " + String(repeating: "a", count: 16_385)
        let path = "\(Self.sends)/\(NotificationID())"
        let requests: [(HTTPRequest.Method, String)] = [
            (.get, Self.sends), (.get, "\(path)/status"), (.get, Self.keys(of: "alice")), (.delete, path),
            (.post, Self.sends), (.post, "\(path)/resend"),
        ]
        for (method, uri) in requests { try await call(431, method, uri, by: token) }
        try await call(431, .post, Self.batches, Self.least, by: token, type: "application/x-ndjson")
    }

    /// A user whose password was wrong too often is not checked again for a while.
    private func throttled() async throws {
        let wrong = { (password: String) in "Basic " + Data("mallory:\(password)".utf8).base64EncodedString() }
        for number in 0..<5 { try await call(401, .get, Self.sends, by: wrong("\(number)")) }
        let path = "\(Self.sends)/\(NotificationID())"
        for uri in [Self.sends, "\(path)/status", Self.keys(of: "alice")] {
            try await call(429, .get, uri, by: wrong("x"))
        }
        try await call(429, .post, Self.sends, by: wrong("x"))
        try await call(429, .post, Self.batches, Self.least, by: wrong("x"), type: "application/x-ndjson")
        try await call(429, .delete, path, by: wrong("x"))
    }

    private func failures(_ status: Int) async throws {
        try await call(status, .post, Self.sends, Self.least)
        try await call(status, .get, Self.sends)
        try await call(status, .get, Self.keys(of: "alice"))
        let path = "\(Self.sends)/\(NotificationID())"
        try await call(status, .get, "\(path)/status")
        try await call(status, .delete, path)
        try await call(status, .post, "\(path)/resend")
        try await call(200, .post, Self.batches, Self.least, type: "application/x-ndjson")
    }

    private func conflict(_ writer: FakeWriter) async throws {
        async let first = call(201, .post, Self.sends, Self.least, [.idempotencyKey: "key-3"])
        let isHeld = try await eventually { writer.waiting == 1 }
        #expect(isHeld)
        try await call(409, .post, Self.sends, Self.least, [.idempotencyKey: "key-3"])
        writer.release()
        _ = try await first
    }
}

extension IngestBench {
    /// The ID in an answer.
    fileprivate func id(of answer: TestResponse) throws -> NotificationID {
        let object = try answer.object()
        let text = try #require(object["Id"] as? String)
        return try #require(NotificationID(text))
    }
}
