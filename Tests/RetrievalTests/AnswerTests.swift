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

@Suite("POST /api/notifications/{id}/answer")
struct AnswerTests {
    private static let options = ["approve", "deny"]

    @Test func `The first answer is stored and is a read`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", answers: Self.options)
            let before = Timestamp.now
            let answer = try await bench.answer(
                id, #"{"Action":"deny","Text":"Not 😀 me\n","DeviceId":"phone-1"}"#)
            #expect(answer.status == .noContent && answer.body.readableBytes == 0)
            let record = try #require(try await bench.store.record(id, sender: "clinic"))
            guard case .given(let given) = record.answer else { throw Unexpected("\(record)") }
            #expect(given.action == "deny" && given.at >= before && given.deviceID == "phone-1")
            let sealed = try #require(given.text)
            let alice = try #require(UserName("alice"))
            let text = try bench.sealer.open(sealed, id: id, recipient: alice, as: .answer)
            #expect(String(decoding: text, as: UTF8.self) == "Not \u{1F600} me\n")
            // Nobody can make a payload of it.
            #expect(throws: PayloadError.self) { try bench.sealer.open(sealed, id: id, recipient: alice) }
            #expect(record.readAt != nil)
            #expect(bench.metrics.exposition().contains("securepush_answers_total{result=\"ok\"} 1\n"))
        }
    }

    @Test func `The same answer again is no mistake, and another one is 409`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", answers: Self.options)
            let body = #"{"Action":"approve","Text":"Go ahead."}"#
            for _ in 0..<3 { #expect(try await bench.answer(id, body).status == .noContent) }
            // Members without a value are the same as none.
            let plain = try await bench.accept("1", answers: Self.options)
            for body in [#"{"Action":"approve"}"#, #"{"action":"approve","Text":null,"DeviceId":"x"}"#] {
                #expect(try await bench.answer(plain, body).status == .noContent)
            }
            #expect(try await bench.answer(plain, #"{"Action":"approve","Text":""}"#).status == .noContent)
            for other in [
                #"{"Action":"deny"}"#, #"{"Action":"approve"}"#, #"{"Action":"approve","Text":"go ahead."}"#,
                #"{"Action":"none"}"#,
            ] {
                try (try await bench.answer(id, other)).expectProblem(409)
            }
            guard case .given(let given) = try await bench.store.record(id, sender: "clinic")?.answer else {
                throw Unexpected("no answer")
            }
            #expect(given.action == "approve")
            let metrics = bench.metrics.exposition()
            #expect(metrics.contains("securepush_answers_total{result=\"repeated\"} 4\n"))
            #expect(metrics.contains("securepush_answers_total{result=\"other\"} 4\n"))
        }
    }

    @Test func `Two devices at once have one answer`() async throws {
        try await withRetrieval { bench in
            for _ in 0..<10 {
                let id = try await bench.accept("1", answers: Self.options)
                async let first = bench.answer(id, #"{"Action":"approve"}"#)
                async let second = bench.answer(id, #"{"Action":"deny"}"#)
                let codes = try await [first.status.code, second.status.code]
                #expect(codes.sorted() == [204, 409])
            }
        }
    }

    @Test func `What is not yours is not there`() async throws {
        try await withRetrieval { bench in
            let others = try await bench.accept("1", for: "bob", answers: Self.options)
            let early = try await bench.accept("1", notBefore: .now + .seconds(600), answers: Self.options)
            var seen: Set<String> = []
            for id in ["\(others)", "\(early)", "\(NotificationID())", "x"] {
                let answer = try await bench.request(
                    .post, "/api/notifications/\(id)/answer", by: try bench.token(), body: #"{"Action":"deny"}"#)
                try answer.expectProblem(404)
                seen.insert(try #require(try answer.object()["detail"] as? String))
            }
            #expect(seen.count == 1, "\(seen)")
            for id in [others, early] {
                #expect(try await bench.store.record(id, sender: "clinic")?.answer == nil)
            }
            try (try await bench.request(.post, "/api/notifications/\(others)/answer", by: nil)).expectProblem(401)
        }
    }

    @Test func `After the end it is 410, and what was answered in time stays answered`() async throws {
        try await withRetrieval { bench in
            let expired = try await bench.accept("1", expiresAt: .now - .milliseconds(1), answers: Self.options)
            let revoked = try await bench.accept("1", answers: Self.options)
            #expect(try await bench.answer(revoked, #"{"Action":"approve"}"#).status == .noContent)
            #expect(try await bench.store.revoke(revoked, sender: "clinic", now: .now))
            for id in [expired, revoked] {
                for action in Self.options {
                    try (try await bench.answer(id, #"{"Action":"\#(action)"}"#)).expectProblem(410)
                }
            }
            let late = try await bench.accept("1", expiresAt: .now - .seconds(60), answers: Self.options)
            let given = Answer(action: "approve", at: .now - .seconds(61))
            #expect(try await bench.store.answer(late, given, textUntil: .now))
            #expect(try await bench.answer(late, #"{"Action":"approve"}"#).status == .noContent)
            try (try await bench.answer(late, #"{"Action":"deny"}"#)).expectProblem(410)
        }
    }

    @Test(arguments: [
        (#"{"Action":"other"}"#, "/Action"), (#"{"Action":"Approve"}"#, "/Action"), ("{}", "/Action"),
        (#"{"Action":1}"#, "/Action"), (#"{"Action":"approve","Text":7}"#, "/Text"),
        (#"{"Action":"approve","DeviceId":".."}"#, "/DeviceId"), (#"{"Action":"approve","More":1}"#, "/More"),
        (#"{"Action":"approve","Text":"\#(String(repeating: "é", count: 1001))"}"#, "/Text"),
    ])
    func `What cannot be an answer is 422 and named`(_ body: String, _ pointer: String) async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", answers: Self.options)
            let answer = try await bench.answer(id, body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == [pointer])
            #expect(try await bench.store.record(id, sender: "clinic")?.answer == nil)
            let longest = #"{"Action":"approve","Text":"\#(String(repeating: "é", count: 1000))"}"#
            #expect(try await bench.answer(id, longest).status == .noContent)
        }
    }

    @Test func `Without a question no answer is listed`() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.answer(try await bench.accept("1"), #"{"Action":"approve"}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Action"])
        }
    }
}

@Suite("Challenges of answers")
struct AnswerChallengeTests {
    private static let right = #"{"Action":"approve","Challenge":"42"}"#
    private static let wrong = #"{"Action":"approve","Challenge":"24"}"#

    @Test func `The right challenge answers, and is asked for again`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", answers: ["approve"], challenge: "42")
            for body in [#"{"Action":"approve"}"#, Self.wrong, #"{"Action":"approve","Challenge":""}"#] {
                let answer = try await bench.answer(id, body)
                try answer.expectProblem(422)
                #expect(try answer.pointers() == ["/Challenge"])
            }
            #expect(try await bench.answer(id, Self.right).status == .noContent)
            #expect(try await bench.answer(id, Self.right).status == .noContent)
        }
    }

    @Test func `The third wrong one ends it for everybody`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", answers: ["approve"], challenge: "42")
            // None of these is a wrong challenge.
            for body in [#"{"Action":"approve"}"#, #"{"Action":"deny","Challenge":"24"}"#, "{}"] {
                try (try await bench.answer(id, body)).expectProblem(422)
            }
            for _ in 0..<2 { try (try await bench.answer(id, Self.wrong)).expectProblem(422) }
            #expect(try await bench.store.record(id, sender: "clinic")?.answer == nil)
            try (try await bench.answer(id, Self.wrong)).expectProblem(410)
            try (try await bench.answer(id, Self.right)).expectProblem(410)
            #expect(try await bench.store.record(id, sender: "clinic")?.answer == .failed)
            let metrics = bench.metrics.exposition()
            #expect(metrics.contains("securepush_answers_total{result=\"wrong_challenge\"} 3\n"))
            #expect(metrics.contains("securepush_answers_total{result=\"failed\"} 1\n"))
        }
    }

    @Test func `A challenge nobody asked for is not looked at`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", answers: ["approve"])
            #expect(try await bench.answer(id, Self.wrong).status == .noContent)
        }
    }

    /// Two notifications have the same challenge: their stored forms differ, and neither has it in clear.
    @Test func `The store has no challenge`() async throws {
        try await withRetrieval { bench in
            let alice = try #require(UserName("alice"))
            var stored: Set<[UInt8]> = []
            for _ in 0..<2 {
                let id = try await bench.accept("1", answers: ["approve"], challenge: "4242424242424242")
                let question = try await bench.store.question(id, recipient: alice)?.question
                let challenge = try #require(question?.challenge)
                #expect(!String(decoding: challenge, as: UTF8.self).contains("42424242"))
                stored.insert(challenge)
            }
            #expect(stored.count == 2)
        }
    }

    @Test func `Nothing of an answer is logged or audited`() async throws {
        let log = KeptLog(.trace)
        try await withRetrieval(logger: log.logger, hasAuditLog: true) { bench in
            let id = try await bench.accept("1", answers: ["approve"], challenge: "Zx77Qq")
            let body = #"{"Action":"approve","Text":"my words","Challenge":"\#("Zx77Qq")"}"#
            try (try await bench.answer(id, body.replacing("Zx77Qq", with: "Yy88Rr"))).expectProblem(422)
            #expect(try await bench.answer(id, body).status == .noContent)
            let audit = try String(contentsOfFile: bench.folder + "/audit.log", encoding: .utf8)
            #expect(audit.split(separator: "\n").count { $0.contains("\"answer\"") && $0.contains("\(id)") } == 2)
            for secret in ["Zx77Qq", "Yy88Rr", "my words"] {
                #expect(!log.lines.joined().contains(secret) && !audit.contains(secret))
            }
        }
    }
}

extension RetrievalBench {
    /// Answers a notification as a device of `alice`.
    fileprivate func answer(_ id: NotificationID, _ body: String) async throws -> TestResponse {
        try await request(.post, "/api/notifications/\(id)/answer", by: try token(), body: body)
    }
}

private struct Unexpected: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
