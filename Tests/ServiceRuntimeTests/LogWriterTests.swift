import Foundation
import Logging
import ServiceConfiguration
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import ServiceRuntime

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A log that nobody reads, that is read late, or that takes nothing any more.
@Suite("Writer of the log", .timeLimit(.minutes(5))) struct LogWriterTests {
    /// A pipe, whose writing end blocks or does not.
    private final class LogPipe: Sendable {
        let (reader, writer): (Int32, Int32)
        private let isReaderOpen = Mutex(true)

        init(isBlocking: Bool) throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
            if !isBlocking { try #require(fcntl(writer, F_SETFL, O_NONBLOCK) == 0) }
            signal(SIGPIPE, SIG_IGN)
        }

        deinit {
            closeReader()
            close(writer)
        }

        func closeReader() {
            isReaderOpen.withLock { isOpen in
                if isOpen { close(reader) }
                isOpen = false
            }
        }

        /// Reads until a line holds the text.
        func lines(untilOneHas text: String) async throws -> [String] {
            _ = fcntl(reader, F_SETFL, O_NONBLOCK)
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let isThere = try await eventually(within: .seconds(60), every: .milliseconds(1)) {
                while case let count = read(reader, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
                // The text is in the last line.
                return bytes.last == UInt8(ascii: "\n")
                    && String(decoding: bytes.suffix(40), as: UTF8.self).contains(text)
            }
            #expect(isThere)
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    private static func line(_ number: Int, _ length: Int) -> String {
        "\(number) " + String(repeating: "x", count: length) + "\n"
    }

    /// Lines of all lengths: shorter and longer than what one write to a pipe does not divide.
    private static let lengths = [10, 300, 5000, 100_000]

    @Test(arguments: [true, false], lengths)
    func `A pipe that is read late holds nobody, and what was dropped is counted`(
        isBlocking: Bool, length: Int
    ) async throws {
        let pipe = try LogPipe(isBlocking: isBlocking)
        let writer = LogWriter(descriptor: pipe.writer, capacity: 1 << 20)
        writer.noteDrops { Array("dropped \($0)\n".utf8) }
        let count = (4 << 20) / length
        // A write that waits would never end.
        for number in 0..<count { writer.write(Self.line(number, length)) }
        let dropped = writer.dropped
        #expect(dropped > 0 && dropped < count)
        // The reader comes back.
        let lines = try await pipe.lines(untilOneHas: "dropped ")
        let whole = lines.filter { $0.hasSuffix(String(repeating: "x", count: length)) }
        #expect(whole.count == count - dropped, "A line was lost without a count, or cut.")
        #expect(lines.filter { $0.hasPrefix("dropped ") } == ["dropped \(dropped)"])
        let numbers = whole.compactMap { Int($0.prefix { $0 != " " }) }
        #expect(numbers == numbers.sorted())
        writer.write("the end\n")
        #expect(try await pipe.lines(untilOneHas: "the end").last == "the end")
    }

    @Test(arguments: [true, false])
    func `A reader that keeps up gets every line`(isBlocking: Bool) async throws {
        let pipe = try LogPipe(isBlocking: isBlocking)
        let writer = LogWriter(descriptor: pipe.writer)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<1000 { writer.write("\(task)-\(number) \(String(repeating: "y", count: 200))\n") }
                }
            }
        }
        writer.write("the end\n")
        let lines = try await pipe.lines(untilOneHas: "the end")
        #expect(lines.count == 4001 && writer.dropped == 0)
        #expect(Set(lines).count == 4001)
    }

    @Test func `A reader that is gone ends nothing, and each line is counted`() async throws {
        let pipe = try LogPipe(isBlocking: true)
        let writer = LogWriter(descriptor: pipe.writer)
        pipe.closeReader()
        for number in 0..<100 { writer.write(Self.line(number, 100)) }
        try await expectEventually { writer.dropped == 100 }
    }

    @Test(arguments: ["/dev/full"])
    func `A full disk ends nothing, and each line is counted`(path: String) async throws {
        let full = open(path, O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        let writer = LogWriter(descriptor: full)
        for number in 0..<100 { writer.write(Self.line(number, 100)) }
        try await expectEventually { writer.dropped == 100 }
    }

    /// A socket that does not block takes a part of a long line.
    @Test func `A line of which a part was taken is completed`() async throws {
        var ends: [Int32] = [0, 0]
        #if canImport(Glibc)
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #else
        try #require(socketpair(AF_UNIX, SOCK_STREAM, 0, &ends) == 0)
        #endif
        let (reader, descriptor) = (ends[0], ends[1])
        defer { for end in [reader, descriptor] { close(end) } }
        for end in [reader, descriptor] { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
        let writer = LogWriter(descriptor: descriptor)
        for number in 0..<20 { writer.write(Self.line(number, 90_000)) }
        let count = (0..<20).reduce(0) { $0 + Self.line($1, 90_000).utf8.count }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let isThere = try await eventually(within: .seconds(60), every: .milliseconds(1)) {
            while case let count = read(reader, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
            return bytes.count == count
        }
        #expect(isThere)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count > 90_000 })
        #expect(writer.dropped == 0)
    }

    @Test func `The end of a process waits for the reader, but not for ever`() throws {
        let pipe = try LogPipe(isBlocking: true)
        let writer = LogWriter(descriptor: pipe.writer)
        writer.write("short\n")
        writer.flush(within: .seconds(30))
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(read(pipe.reader, &buffer, 100) == 6, "A flush has left a line.")
        for number in 0..<100 { writer.write(Self.line(number, 5000)) }
        let start = ContinuousClock.now
        writer.flush(within: .milliseconds(200))
        let taken = ContinuousClock.now - start
        #expect(taken >= .milliseconds(200))
        // Without an end here it would go on into whatever gets the number of the descriptor next.
        pipe.closeReader()
        writer.flush(within: patience)
    }

    @Test(arguments: [LogFormat.text, .json], [Logger.Level.trace, .info, .error, .critical])
    func `The line about dropped lines has the form of the log, at every level`(
        format: LogFormat, level: Logger.Level
    ) {
        let logging = LoggingConfiguration(level: level, format: format)
        let line = String(decoding: logging.droppedLine(7, service: "ingest"), as: UTF8.self)
        #expect(line.contains("Log lines were dropped") && line.contains("7") && line.hasSuffix("\n"))
    }
}
