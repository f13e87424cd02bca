import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import StackKit
import TestSupport
import Testing

@testable import Ingest

@Suite("A batch with an Idempotency-Key")
struct IdempotentBatchTests {
    private static func line(_ number: Int) -> String { #"{"Recipient":"user\#(number)","Payload":\#(number)}"# }

    @Test func `A batch that broke off can be sent again whole`() async throws {
        try await withIngest { bench in
            let lines = (1...600).map(Self.line)
            let part = try await bench.batch(lines.prefix(250).joined(separator: "\n"), headers: [.idempotencyKey: "b"])
            let whole = try await bench.batch(lines.joined(separator: "\n"), headers: [.idempotencyKey: #""b""#])
            #expect(whole.lines.count == 600)
            #expect(Array(whole.lines.prefix(250)) == part.lines)
            #expect(Set(whole.lines).count == 600)
            #expect(try await bench.count == 600)
        }
    }

    @Test func `Another line under the same number is 422 and spoils no other`() async throws {
        try await withIngest { bench in
            let first = try await bench.batch([Self.line(1), Self.line(2), "{"], key: "b")
            let second = try await bench.batch([Self.line(1), Self.line(3), Self.line(4)], key: "b")
            #expect(second.lines[0] == first.lines[0])
            let problem = try second.lines[1].object()
            #expect(problem["status"] as? Int == 422)
            #expect(problem["type"] as? String == "urn:securepush:problem:idempotency-key-reused")
            // The third was refused before, so its number is free.
            #expect(try second.lines[2].object()["Recipient"] as? String == "user4")
            #expect(try await bench.count == 3)
        }
    }

    @Test func `Equal lines are notifications of their own`() async throws {
        try await withIngest { bench in
            let answer = try await bench.batch([Self.line(1), Self.line(1)], key: "b")
            #expect(Set(answer.lines).count == 2)
            // Nor is a request of its own a line.
            #expect(try await bench.post(Self.line(1), key: "b").headers[.idempotencyReplay] == nil)
            #expect(try await bench.count == 3)
        }
    }

    @Test func `Blank lines and line ends do not change the numbers`() async throws {
        try await withIngest { bench in
            let first = try await bench.batch("\(Self.line(1))\n\(Self.line(2))\n", headers: [.idempotencyKey: "b"])
            let second = try await bench.batch("\n\(Self.line(1))\n\n\(Self.line(2))", headers: [.idempotencyKey: "b"])
            #expect(second.lines == first.lines)
        }
    }

    @Test func `Dates that have passed since do not spoil a repeat`() async throws {
        let time = TestTime()
        let line = #"{"Recipient":"a","Payload":1,"NotBefore":"\#(time.now + .seconds(60))"}"#
        try await withIngest(now: { time.now }) { bench in
            let first = try await bench.batch([line], key: "b")
            time.advance(by: .seconds(61))
            #expect(try await bench.batch([line], key: "b").lines == first.lines)
            #expect(try await bench.batch([line], key: "c").results().first?["status"] as? Int == 422)
        }
    }

    @Test func `A line that is being stored is 409`() async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, isHolding: true)
        try await withIngest(store: store, writer: writer) { bench in
            async let first = bench.batch([Self.line(1)], key: "b")
            #expect(try await eventually { writer.waiting == 1 })
            async let second = bench.batch([Self.line(1), Self.line(2)], key: "b")
            #expect(try await eventually { writer.waiting == 2 })
            writer.release()
            let (whole, part) = try await (second, first)
            #expect(try whole.results().map { $0["status"] as? Int } == [409, nil])
            #expect(part.lines.count == 1)
            #expect(try await bench.count == 2)
        }
    }

    @Test func `A key that is none is 400`() async throws {
        try await withIngest { bench in
            try (try await bench.batch([Self.line(1)], key: "a b")).expectProblem(400)
        }
    }
}
