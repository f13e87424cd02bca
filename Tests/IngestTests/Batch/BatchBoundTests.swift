import APITestSupport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ServiceRuntime
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// What a batch may hold, and how long it may last.
@Suite("The bounds of a batch", .timeLimit(.minutes(3)))
struct BatchBoundTests {
    private static let line = #"{"Recipient":"alice","Payload":1}"# + "\n"
    /// The attack of the security review, finding 8: a hundred batches without a line.
    @Test func `Idle batches hold nothing of the budget`() async throws {
        let budget = RequestBudget(maxBytes: 1024 * 1024, reservedForSmall: 0)
        try await withIngest(budget: budget, maxBatchIdle: patience, server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { first in
                try await first.write(RawConnection.batchHead(bench))
                try await first.writeChunk("\n  \n")
                _ = try await first.read(until: "\r\n\r\n")
                for _ in 0..<20 {
                    try await RawConnection.with(port: bench.client.port) { other in
                        try await other.write(RawConnection.batchHead(bench))
                        _ = try await other.read(until: "\r\n\r\n")
                        try await expectEventually { budget.usedBytes == 0 }
                    }
                }
                let payload = String(repeating: "x", count: 100 * 1024)
                let body = #"{"Recipient":"alice","Payload":"\#(payload)"}"#
                #expect(try await bench.post(body).status == .created)
                #expect(try await bench.batch(Self.line).results().count == 1)
            }
        }
    }

    @Test(arguments: ["", "\n", " \t\r\n\n", #"{"Recipient":"al"#])
    func `A batch without a line ends with an answer`(_ filler: String) async throws {
        try await withIngest(maxBatchIdle: .seconds(5), server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                // The first line comes with the head, so that no time passes before it.
                let size = String(Self.line.utf8.count, radix: 16)
                try await connection.write(RawConnection.batchHead(bench) + "\(size)\r\n\(Self.line)\r\n")
                let writer = connection.writer
                let dripping = Task {
                    while !filler.isEmpty, !Task.isCancelled {
                        try await writer.writeChunk(filler)
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
                defer { dripping.cancel() }
                let answer = try await connection.read(until: RawConnection.endOfBatch)
                #expect(answer.contains(#""Id":"#) && answer.contains(#""status":408"#))
                #expect(answer.contains("after line 1."))
                #expect(try await bench.count == 1)
            }
        }
    }

    @Test func `Lines keep a batch open`() async throws {
        try await withIngest(maxBatchIdle: .seconds(6), server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(RawConnection.batchHead(bench))
                let end = ContinuousClock.now + .seconds(7)
                var lines = 0
                while ContinuousClock.now < end {
                    try await connection.writeChunk(Self.line)
                    _ = try await connection.read(until: #""ExpiresAt":"#)
                    lines += 1
                    try await Task.sleep(for: .milliseconds(500))
                }
                try await connection.write("0\r\n\r\n")
                let rest = try await connection.read(until: RawConnection.endOfBatch)
                #expect(!rest.contains(#""status":408"#))
                #expect(try await bench.count == lines)
            }
        }
    }

    @Test func `A slow store is no idle time`() async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, isHolding: true)
        try await withIngest(store: store, writer: writer, maxBatchIdle: .seconds(3), server: .live) { bench in
            let big = #"{"Recipient":"alice","Payload":"\#(String(repeating: "x", count: 200 * 1024))"}"# + "\n"
            try await RawConnection.with(port: bench.client.port) { connection in
                let body = String(repeating: big, count: 20)
                try await connection.write(RawConnection.batchHead(bench, "Content-Length: \(body.utf8.count)"))
                let half = connection.writer
                let writing = Task { try await half.write(body) }
                try await expectEventually { writer.waiting == 1 }
                try await Task.sleep(for: .seconds(5))
                writer.release()
                try await writing.value
                let answer = try await connection.read(until: RawConnection.endOfBatch)
                // Not only "408": an ID may hold these digits.
                #expect(answer.split(separator: #""Id":"#).count == 21, "\(answer)")
                #expect(!answer.contains(#""status":408"#), "\(answer)")
            }
        }
    }

    /// Many errors, long names, and a line that is no JSON.
    private static let refusedLines = [
        "{" + (0..<60).map { #""member \#($0)":1"# }.joined(separator: ",") + "}",
        #"{"Recipient":"alice","Payload":1,"\#(String(repeating: "n", count: 480))":1,"b":2}"#,
        #"{"Recipient":"alice","Payload":1,"\#(String(repeating: "\\u0001", count: 400))":1}"#,
        #"{"Platforms":[\#((0..<100).map { "\"p\($0)\"" }.joined(separator: ","))]}"#,
        String(repeating: "[", count: 2000), #"{"Recipient":7,"Recipients":[],"Remind":["x"],"ExpiresAt":"y"}"#,
    ]

    @Test(arguments: refusedLines)
    func `The answer of a refused line is bounded`(_ line: String) async throws {
        try await withIngest { bench in
            let requestID = try #require(HTTPField.Name("X-Request-Id"))
            // Each of these is three bytes in `instance`.
            let answer = try await bench.batch(
                line, headers: [requestID: String(repeating: "%", count: 128)])
            #expect(answer.lines.count == 1)
            #expect(answer.lines[0].utf8.count * BatchLimit.maxLines <= BatchLimit.maxWaitingResultBytes)
            let status = try #require(try answer.results()[0]["status"] as? Int)
            #expect((400..<500).contains(status))
            // A single request has them all.
            try (try await bench.post(line)).expectProblem(status)
        }
    }

    @Test func `The answer of an accepted line is bounded`() async throws {
        try await withIngest { bench in
            let name = String(repeating: #"\""#, count: 1024)
            let answer = try await bench.batch(#"{"Recipient":"\#(name)","Payload":1}"#)
            #expect(answer.lines.count == 1 && answer.lines[0].contains(name))
            #expect(answer.lines[0].utf8.count * BatchLimit.maxLines <= BatchLimit.maxWaitingResultBytes)
        }
    }

    /// One write of more than 256 KiB would close a connection whose client does not read for five seconds.
    @Test func `Results are written in parts`() {
        let text = (0..<40_000).map { UInt8($0 % 251) }
        let parts = BatchController.parts(of: text)
        #expect(parts.map(\.readableBytes) == [16_384, 16_384, 7232])
        #expect(parts.flatMap { Array($0.readableBytesView) } == text)
        #expect(BatchController.parts(of: []).isEmpty)
    }

    /// Before, both sides waited for each other until the connection was reset.
    @Test(arguments: [0, 3])
    func `Ten thousand refused lines are taken from a client that does not read meanwhile`(_ index: Int) async throws {
        try await withIngest(server: .live) { bench in
            let line = Self.refusedLines[index] + "\n"
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(
                    RawConnection.batchHead(bench, "Content-Length: \(line.utf8.count * BatchLimit.maxLines)"))
                let part = String(repeating: line, count: 100)
                for _ in 0..<100 { try await connection.write(part) }
                let answer = try await connection.read(until: RawConnection.endOfBatch)
                #expect(answer.split(separator: #""status":422"#).count == 10_001)
            }
        }
    }

    /// Whoever reads nothing holds only the sender's own part.
    @Test func `A batch beyond the sender's part ends with 503`() async throws {
        let budget = RequestBudget(maxBytes: 400_000, reservedForSmall: 0)
        let store = memoryStore()
        let writer = FakeWriter(store, isHolding: true)
        try await withIngest(store: store, writer: writer, budget: budget, server: .live) { bench in
            let half = #"{"Recipient":"alice","Payload":"\#(String(repeating: "x", count: 40_000))"}"# + "\n"
            try await RawConnection.with(port: bench.client.port) { first in
                try await first.write(RawConnection.batchHead(bench))
                try await first.writeChunk(half)
                try await expectEventually { writer.waiting == 1 }
                #expect(budget.usedBytes <= 100_000)
                try await RawConnection.with(port: bench.client.port) { second in
                    try await second.write(RawConnection.batchHead(bench))
                    try await second.writeChunk(half)
                    let answer = try await second.read(until: RawConnection.endOfBatch)
                    #expect(answer.contains(#""status":503"#) && answer.contains("line 1 on"))
                }
                writer.release()
                try await first.write("0\r\n\r\n")
                _ = try await first.read(until: RawConnection.endOfBatch)
            }
            try await expectEventually { budget.usedBytes == 0 }
        }
    }
}
