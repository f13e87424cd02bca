import APITestSupport
import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import HummingbirdTesting
import NIOCore
import ServiceRuntime
import TestSupport
import Testing

@testable import Ingest

@Suite("POST /api/notifications/batch")
struct BatchTests {
    private static let good = #"{"Recipient":"alice","Payload":1}"#

    @Test func `Every line has its result in order`() async throws {
        try await withIngest { bench in
            let answer = try await bench.batch(
                """
                {"Recipient":"a","Payload":"first"}
                not JSON
                {"Recipients":["b","c"],"Payload":{"n":1.10}}
                {"Recipient":"d","Recipient":"d","Payload":1,"Secret":2}

                []
                {"Recipient":"e","Payload":null}
                """)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "application/x-ndjson")
            let results = try answer.results()
            #expect(results.map { $0["status"] as? Int } == [nil, 400, nil, 422, 422, nil])
            #expect(results[0]["Recipient"] as? String == "a")
            #expect(Set(results[0].keys) == ["Id", "Recipient", "Status", "CreatedAt", "ExpiresAt"])
            let list = try #require(results[2]["Notifications"] as? [[String: String]])
            #expect(list.map { $0["Recipient"] } == ["b", "c"])
            let errors = try #require(results[3]["errors"] as? [[String: String]])
            #expect(errors.compactMap { $0["pointer"] } == ["/Recipient", "/Secret"])
            #expect(results[5]["Recipient"] as? String == "e")
            let requestID = answer.headers[HTTPField.Name("x-request-id")!]
            for problem in [results[1], results[3], results[4]] {
                #expect(problem["instance"] as? String == requestID)
                #expect(problem["type"] is String && problem["title"] is String && problem["detail"] is String)
            }
            #expect(try await bench.count == 4)
            let id = try #require((list[1]["Id"]).flatMap { NotificationID($0) })
            #expect(try await bench.payload(id, of: "c") == #"{"n":1.10}"#)
        }
    }

    @Test(arguments: [
        ("", 0), ("\n\n", 0), (good, 1), ("\(good)\n", 1), ("\(good)\r\n\(good)\r\n", 2),
        ("\n\(good)\n \t\r\n\n\(good)", 2), (" \(good) \n", 1),
    ])
    func `Blank lines and ends of lines are not counted`(_ body: String, _ count: Int) async throws {
        try await withIngest { bench in
            let answer = try await bench.batch(body)
            #expect(answer.status == .ok)
            let results = try answer.results()
            #expect(results.count == count)
            #expect(results.allSatisfy { $0["Id"] is String })
            #expect(try await bench.count == count)
        }
    }

    @Test func `A line that is not UTF-8 spoils no other`() async throws {
        try await withIngest { bench in
            let line = Array(Self.good.utf8) + [0x0A]
            var body = line
            body += Array("{\"Recipient\":\"a\",\"Payload\":\"".utf8)
            body += [0xC3, 0x28]
            body += Array("\"}\n".utf8)
            let answer = try await bench.batch(bytes: body + line)
            #expect(try answer.results().map { $0["status"] as? Int } == [nil, 400, nil])
        }
    }

    @Test func `An overlong line is 413 and spoils no other`() async throws {
        try await withIngest { bench in
            let blanks = String(repeating: " ", count: BatchLimit.maxLineBytes - Self.good.utf8.count)
            let large = #"{"Recipient":"a","Payload":"\#(String(repeating: "x", count: 256 * 1024 + 1))"}"#
            let fitting = "\(blanks)\(Self.good)"
            let answer = try await bench.batch([Self.good, fitting, " \(fitting)", large, Self.good])
            #expect(try answer.results().map { $0["status"] as? Int } == [nil, nil, 413, 413, nil])
        }
    }

    @Test func `Line 10001 is 413 and ends the stream`() async throws {
        try await withIngest { bench in
            let answer = try await bench.batch([String](repeating: Self.good, count: 10_003))
            let results = answer.lines
            #expect(results.count == 10_001)
            let last = try #require(results.last).object()
            #expect(last["status"] as? Int == 413)
            #expect((last["detail"] as? String)?.contains("10,000") ?? false)
            #expect(results.dropLast().allSatisfy { $0.hasPrefix(#"{"Id":"#) })
            #expect(try await bench.count == 10_000)
        }
    }

    @Test func `Ten thousand lines are taken`() async throws {
        try await withIngest { bench in
            let answer = try await bench.batch([String](repeating: "[]", count: 10_000) + ["", " "])
            #expect(answer.lines.count == 10_000)
            #expect(answer.lines.allSatisfy { $0.contains(#""status":422"#) })
        }
    }

    @Test(arguments: ["application/json", "text/plain", "application/x-ndjson; charset=latin1", nil])
    func `Other media types are 415`(_ contentType: String?) async throws {
        try await withIngest { bench in
            try (try await bench.batch(Self.good, contentType: contentType)).expectProblem(415)
            #expect(try await bench.count == 0)
        }
    }

    @Test(arguments: ["application/x-ndjson; charset=utf-8", "Application/X-NDJSON", "text/x-ndjson"])
    func `The media type may have a charset`(_ contentType: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.batch(Self.good, contentType: contentType)
            #expect(answer.lines.count == 1)
        }
    }

    @Test func `The trace is kept with every notification`() async throws {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await withIngest { bench in
            let answer = try await bench.batch(Self.good + "\n" + Self.good, headers: [.traceparent: trace])
            let alice = try #require(UserName("alice"))
            for result in try answer.results() {
                let id = try #require((result["Id"] as? String).flatMap { NotificationID($0) })
                #expect(try await bench.store.find(id, recipient: alice)?.traceparent == trace)
            }
        }
    }

    @Test func `A store that is away is 503 on every line that was good`() async throws {
        try await withIngest(writer: FakeWriter(failure: StorageError(.unavailable, "away for the test"))) { bench in
            let answer = try await bench.batch([Self.good, "{", Self.good])
            #expect(answer.status == .ok)
            #expect(try answer.results().map { $0["status"] as? Int } == [503, 400, 503])
            #expect(!answer.text.contains("away for the test"))
        }
    }

    @Test func `What the store refuses for good spoils no other`() async throws {
        let store = memoryStore()
        try await withIngest(store: store, writer: FakeWriter(store, refused: UserName("bad"))) { bench in
            let bad = #"{"Recipient":"bad","Payload":1}"#
            for headers: HTTPFields in [[:], [.idempotencyKey: "k"]] {
                let lines = [Self.good, bad, Self.good, Self.good, bad]
                let answer = try await bench.batch(lines.joined(separator: "\n"), headers: headers)
                #expect(try answer.results().map { $0["status"] as? Int } == [nil, 500, nil, nil, 500])
            }
            #expect(try await bench.count == 6)
        }
    }

    @Test func `The body may break anywhere`() async throws {
        let body = Array("\(Self.good)\r\n{\n\n{\"Recipients\":[\"é\"],\"Payload\":\"€\"}".utf8)
        try await withIngest { bench in
            for position in 0...body.count {
                let (stream, source) = AsyncStream<ByteBuffer>.makeStream()
                source.yield(ByteBuffer(bytes: body[..<position]))
                source.yield(ByteBuffer(bytes: body[position...]))
                source.finish()
                let pipe = BatchPipe<BatchLine>(limit: .max)
                await bench.reader(keepsText: true).run(.init(asyncSequence: stream), into: pipe)
                let lines = try #require(await pipe.receive())
                #expect(lines.map(\.number) == [1, 2, 3])
                #expect(lines.map(\.isRequest) == [true, false, true], "\(position)")
                #expect(lines[2].text.starts(with: Array(#"{"Recipients""#.utf8)))
                #expect(await pipe.receive() == nil)
            }
        }
    }

    /// The text of a line, and its first errors, are held until they are written.
    @Test func `A refused line weighs what it holds`() async throws {
        try await withIngest { bench in
            let names = (0..<90).map { #""\#(String(repeating: "n", count: 400))\#($0)":0"# }.joined(separator: ",")
            let text = ["{\(names)}", "{}", Self.good].joined(separator: "\n")
            let (stream, source) = AsyncStream<ByteBuffer>.makeStream()
            source.yield(ByteBuffer(string: text))
            source.finish()
            let pipe = BatchPipe<BatchLine>(limit: .max)
            await bench.reader(keepsText: true).run(.init(asyncSequence: stream), into: pipe)
            let lines = try #require(await pipe.receive())
            let text0 = "{\(names)}".utf8.count
            #expect(lines[0].weight > BatchLine.overhead + text0 + 400)
            #expect(lines[0].weight < BatchLine.overhead + text0 + 2 * BatchLimit.maxErrorBytes)
            #expect(lines[1].weight < BatchLine.overhead + 500)
            #expect(lines[2].weight == 1 + BatchLine.overhead + Self.good.utf8.count)
        }
    }

    @Test func `A body that breaks off ends the batch with a problem`() async throws {
        try await withIngest { bench in
            let stream = AsyncThrowingStream<ByteBuffer, any Error> { source in
                source.yield(ByteBuffer(string: Self.good + "\n" + Self.good))
                source.finish(throwing: StorageError(.failed, "any error"))
            }
            let pipe = BatchPipe<BatchLine>(limit: .max)
            await bench.reader(keepsText: false).run(.init(asyncSequence: stream), into: pipe)
            let lines = try #require(await pipe.receive())
            #expect(lines.map(\.isRequest) == [true, false])
        }
    }
}

extension IngestBench {
    /// The first stage of a batch of this sender.
    fileprivate func reader(keepsText: Bool) -> BatchReader {
        BatchReader(
            acceptor: acceptor, keepsText: keepsText, reservation: acceptor.budget.reservation(ofBatchBy: "clinic"))
    }
}

extension BatchLine {
    fileprivate var isRequest: Bool { if case .request = content { true } else { false } }
}
