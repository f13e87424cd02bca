import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StackKit
import TestSupport
import Testing

@testable import Ingest

@Suite("POST /api/notifications with an Idempotency-Key")
struct IdempotentRequestTests {
    private static let good = #"{"Recipient":"alice","Payload":1}"#
    private static let other = #"{"Recipient":"alice","Payload":2}"#

    @Test(arguments: [good, #"{"Recipients":["a","b"],"Payload":{"x":1.10}}"#])
    func `A repeat is answered as the first`(_ body: String) async throws {
        try await withIngest { bench in
            let first = try await bench.post(body, key: "k1")
            #expect(first.status == .created)
            #expect(first.headers[.idempotencyReplay] == nil)
            let stored = try await bench.count
            // The draft's form of the header is the same key.
            for key in ["k1", #""k1""#] {
                let again = try await bench.post(body, key: key)
                #expect(again.status == .created)
                #expect(again.headers[.idempotencyReplay] == "true")
                #expect(again.body == first.body)
                #expect(again.headers[.location] == first.headers[.location])
                #expect(again.headers[.contentType] == "application/json")
            }
            #expect(try await bench.count == stored)
        }
    }

    @Test func `Without a key or with another a repeat is a new notification`() async throws {
        try await withIngest { bench in
            let keys: [String?] = [nil, nil, "a", "A"]
            var bodies: Set<ByteBuffer> = []
            for key in keys { bodies.insert(try await bench.post(Self.good, key: key).body) }
            #expect(bodies.count == 4)
            #expect(try await bench.count == 4)
        }
    }

    @Test(arguments: [other, "\(good) ", "{", #"{"Recipient":"alice"}"#])
    func `Another body is 422`(_ body: String) async throws {
        try await withIngest { bench in
            #expect(try await bench.post(Self.good, key: "k").status == .created)
            let answer = try await bench.post(body, key: "k")
            try answer.expectProblem(422)
            #expect(try answer.object()["type"] as? String == "urn:securepush:problem:idempotency-key-reused")
            #expect(answer.text.contains("Idempotency-Key"))
            #expect(answer.headers[.idempotencyReplay] == nil)
            #expect(try await bench.count == 1)
        }
    }

    @Test(arguments: [
        ("{", "application/json", 400), ("", "application/json", 400), (good, "text/plain", 415),
        (#"{"Recipient":"alice","Payload":1,"NotBefore":"2001-01-01T00:00:00Z"}"#, "application/json", 422),
    ])
    func `A refused request leaves the key free`(_ body: String, _ contentType: String, _ code: Int) async throws {
        try await withIngest { bench in
            for _ in 0..<2 {
                let refusal = try await bench.post(
                    body, contentType: contentType, headers: [.idempotencyKey: "k"])
                try refusal.expectProblem(code)
            }
            let answer = try await bench.post(Self.good, key: "k")
            #expect(answer.status == .created)
            #expect(answer.headers[.idempotencyReplay] == nil)
            #expect(try await bench.count == 1)
        }
    }

    @Test func `A failure of the store leaves the key free`() async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, failure: StorageError(.unavailable, "away"))
        try await withIngest(store: store, writer: writer) { bench in
            try (try await bench.post(Self.good, key: "k")).expectProblem(503)
            writer.fail(nil)
            #expect(try await bench.post(Self.good, key: "k").headers[.idempotencyReplay] == nil)
            #expect(try await bench.post(Self.good, key: "k").headers[.idempotencyReplay] == "true")
        }
    }

    @Test(arguments: [good, other])
    func `While the first is in flight a repeat is 409`(_ repeated: String) async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, isHolding: true)
        try await withIngest(store: store, writer: writer) { bench in
            async let first = bench.post(Self.good, key: "k")
            #expect(try await eventually { writer.waiting == 1 })
            let second = try await bench.post(repeated, key: "k")
            try second.expectProblem(409)
            #expect(second.headers[.retryAfter] == "1")
            writer.release()
            let answer = try await first
            #expect(answer.status == .created)
            let third = try await bench.post(Self.good, key: "k")
            #expect(third.body == answer.body)
            #expect(third.headers[.idempotencyReplay] == "true")
            #expect(try await bench.count == 1)
        }
    }

    @Test func `Keys of different senders never meet`() async throws {
        try await withIngest { bench in
            let byClinic = try await bench.post(Self.good, key: "k")
            let byAlice = try await bench.confirm(key: "k")
            #expect(byAlice.status == .created)
            #expect(byAlice.headers[.idempotencyReplay] == nil)
            #expect(byAlice.body != byClinic.body)
            let again = try await bench.confirm(key: "k")
            #expect(again.headers[.idempotencyReplay] == "true")
            #expect(again.body == byAlice.body)
            #expect(again.headers[.location] == byAlice.headers[.location])
        }
    }

    @Test(arguments: ["", "a b", "é", "\"\""])
    func `A key that is none is 400`(_ key: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.post(Self.good, key: key)
            try answer.expectProblem(400)
            #expect(answer.text.contains("Idempotency-Key"))
            // Who calls comes first.
            try (try await bench.post(Self.good, authorization: "Bearer x", headers: [.idempotencyKey: key]))
                .expectProblem(401)
            #expect(try await bench.count == 0)
        }
    }

    @Test func `A key is kept for a day`() async throws {
        let time = TestTime()
        try await withIngest(now: { time.now }) { bench in
            let first = try await bench.post(Self.good, key: "k")
            time.advance(by: .seconds(86_400) - .milliseconds(1))
            #expect(try await bench.post(Self.good, key: "k").body == first.body)
            time.advance(by: .milliseconds(1))
            let new = try await bench.post(Self.other, key: "k")
            #expect(new.status == .created)
            #expect(new.headers[.idempotencyReplay] == nil)
        }
    }

    @Test func `Dates that have passed since do not spoil a repeat`() async throws {
        let time = TestTime()
        let date = time.now + .seconds(60)
        let body = #"{"Recipient":"alice","Payload":1,"NotBefore":"\#(date)"}"#
        try await withIngest(now: { time.now }) { bench in
            let first = try await bench.post(body, key: "k")
            #expect(first.status == .created)
            time.advance(by: .seconds(61))
            let again = try await bench.post(body, key: "k")
            #expect(again.body == first.body)
            #expect(again.headers[.idempotencyReplay] == "true")
            try (try await bench.post(body, key: "new")).expectProblem(422)
        }
    }

    @Test func `Concurrent repeats in two processes make one notification`() async throws {
        let store = memoryStore()
        let keys = PayloadKeyRing.newLine()
        try await withIngest(store: store, payloadKeys: keys) { one in
            try await withIngest(store: store, payloadKeys: keys) { two in
                let answers = try await withThrowingTaskGroup(of: TestResponse.self) { group in
                    for index in 0..<200 {
                        group.addTask { try await (index.isMultiple(of: 2) ? one : two).post(Self.good, key: "k") }
                    }
                    return try await group.reduce(into: [TestResponse]()) { $0.append($1) }
                }
                let accepted = answers.filter { $0.status == .created }
                let others = answers.filter { ![.created, .conflict].contains($0.status) }.map(\.status.code)
                #expect(answers.count == 200 && others.isEmpty, "\(answers.count) answers, among them \(others)")
                #expect(accepted.filter { $0.headers[.idempotencyReplay] == nil }.count == 1)
                #expect(Set(accepted.map(\.body)).count == 1)
                #expect(try await one.count == 1)
            }
        }
    }

    @Test func `Without the key of its fingerprint a repeat is refused`() async throws {
        let store = memoryStore()
        try await withIngest(store: store) { before in
            #expect(try await before.post(Self.good, key: "k").status == .created)
            // A bench of its own has a key ring of its own.
            try await withIngest(store: store) { after in
                let answer = try await after.post(Self.good, key: "k")
                try answer.expectProblem(422)
                #expect(answer.text.contains("before the payload keys changed"))
                #expect(try await after.count == 1)
            }
        }
    }
}

extension IngestBench {
    /// How many notifications were accepted.
    var count: Int { get async throws { try await store.backlog(now: .now).count } }

    func post(_ body: String, key: String?) async throws -> TestResponse {
        try await post(body, headers: key.map { [.idempotencyKey: $0] } ?? [:])
    }

    /// The tutorial's "Send push" by alice.
    fileprivate func confirm(key: String) async throws -> TestResponse {
        try await post("", authorization: credentials.bearer, contentType: nil, headers: [.idempotencyKey: key])
    }
}
