import APITestSupport
import Domain
import HTTPTypes
import HummingbirdTesting
import StackKit
import TestSupport
import Testing

@testable import Ingest

/// What only a connection shows: when results come, and what becomes of what nobody reads.
@Suite("A batch over a connection", .timeLimit(.minutes(5)))
struct BatchStreamingTests {
    private static let line = #"{"Recipient":"alice","Payload":1}"# + "\n"
    @Test func `A line is answered before the next is sent`() async throws {
        try await withIngest(server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(RawConnection.batchHead(bench))
                #expect(try await connection.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
                for count in 1...3 {
                    try await connection.writeChunk(Self.line)
                    _ = try await connection.read(until: #""ExpiresAt":"#)
                    #expect(try await bench.count == count)
                }
                // Half a line waits for its other half.
                try await connection.writeChunk(String(Self.line.prefix(10)))
                try await connection.writeChunk(String(Self.line.dropFirst(10)) + "{\n")
                _ = try await connection.read(until: #""status":400"#)
                try await connection.write("0\r\n\r\n")
                _ = try await connection.read(until: RawConnection.endOfBatch)
                #expect(try await bench.count == 4)
            }
        }
    }

    @Test func `A store that comes back takes the later lines`() async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, failure: StorageError(.unavailable, "away"))
        try await withIngest(store: store, writer: writer, server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(RawConnection.batchHead(bench))
                try await connection.writeChunk(Self.line)
                _ = try await connection.read(until: #""status":503"#)
                writer.fail(nil)
                try await connection.writeChunk(Self.line)
                _ = try await connection.read(until: #""Id":"#)
                try await connection.write("0\r\n\r\n")
                _ = try await connection.read(until: RawConnection.endOfBatch)
            }
        }
    }

    @Test func `While one group is being stored the next ones gather`() async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, isHolding: true)
        try await withIngest(store: store, writer: writer, server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(RawConnection.batchHead(bench))
                try await connection.writeChunk(Self.line)
                #expect(try await eventually { writer.waiting == 1 })
                for _ in 0..<50 { try await connection.writeChunk(Self.line) }
                writer.release()
                try await connection.write("0\r\n\r\n")
                let answer = try await connection.read(until: RawConnection.endOfBatch)
                #expect(answer.split(separator: #""Id":"#).count == 52)
                #expect(writer.appends < 51)
            }
        }
    }

    /// Many clients write everything before they read anything.
    @Test func `Ten thousand lines are taken from a client that does not read meanwhile`() async throws {
        try await withIngest(server: .live) { bench in
            let filler = String(repeating: "x", count: 1024)
            let line = #"{"Recipient":"alice","Payload":"\#(filler)"}"# + "\n"
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(
                    RawConnection.batchHead(bench, "Content-Length: \(line.utf8.count * 10_000)"))
                let part = String(repeating: line, count: 100)
                for _ in 0..<100 { try await connection.write(part) }
                #expect(try await eventually { try await bench.count == 10_000 })
                _ = try await connection.read(until: RawConnection.endOfBatch)
            }
        }
    }

    @Test func `After line 10001 the connection is still of use`() async throws {
        try await withIngest(server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(RawConnection.batchHead(bench))
                for _ in 0..<101 { try await connection.writeChunk(String(repeating: "[]\n", count: 100)) }
                // The rest has not been sent yet, and the answer is complete.
                _ = try await connection.read(until: #""status":413"#)
                _ = try await connection.read(until: RawConnection.endOfBatch)
                try await connection.writeChunk(Self.line)
                try await connection.write("0\r\n\r\n")
                try await connection.write(
                    RawConnection.batchHead(bench, "Content-Length: \(Self.line.utf8.count)") + Self.line)
                _ = try await connection.read(until: RawConnection.endOfBatch)
                #expect(try await bench.count == 1)
            }
        }
    }

    @Test func `What was read before the client left is stored`() async throws {
        try await withIngest(server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                try await connection.write(RawConnection.batchHead(bench))
                try await connection.writeChunk(Self.line + Self.line + Self.line.dropLast(5))
                _ = try await connection.read(until: #""ExpiresAt":"#)
            }
            #expect(try await eventually { try await bench.count == 2 })
        }
    }

    @Test func `A refusal does not wait for the body`() async throws {
        try await withIngest(server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                let head = RawConnection.batchHead(bench).replacing(bench.credentials.sender, with: "Bearer spk_wrong")
                try await connection.write(head)
                #expect(try await connection.read(until: "\r\n").hasPrefix("HTTP/1.1 401 "))
            }
        }
    }
}
