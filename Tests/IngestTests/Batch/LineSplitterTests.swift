import APITestSupport
import NIOCore
import Testing

@testable import Ingest

@Suite struct LineSplitterTests {
    /// What comes of a text that arrives in these parts; `nil` stands for a line that is too long.
    private func lines(_ chunks: [String], limit: Int = 100) -> [String?] {
        var splitter = LineSplitter(limit: limit)
        var lines: [LineSplitter.Line] = []
        for chunk in chunks {
            splitter.add(ByteBuffer(string: chunk))
            while let line = splitter.next() { lines.append(line) }
        }
        if let last = splitter.finish() { lines.append(last) }
        return lines.map { line in
            guard case .text(let text) = line else { return nil }
            return String(buffer: text)
        }
    }

    @Test(arguments: [
        ("a\nbc\n", ["a", "bc"]), ("a\nbc", ["a", "bc"]), ("", [String]()),
        ("\n\n \t\r\n", [String]()), ("a\r\n\r\nb\r\n", ["a\r", "b\r"]),
        (" a \n\n", [" a "]), ("a\n ", ["a"]),
    ])
    func `Lines are cut wherever the text is broken`(_ text: String, _ expected: [String]) {
        #expect(lines([text]) == expected)
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let parts = [bytes[..<first], bytes[first..<second], bytes[second...]].map {
                    String(decoding: $0, as: UTF8.self)
                }
                #expect(lines(parts) == expected, "\(parts)")
            }
        }
    }

    @Test(arguments: [1, 3, 1000])
    func `A long line is told and skipped`(_ size: Int) {
        let long = String(repeating: "x", count: 101), fitting = String(repeating: "y", count: 100)
        let text = Array("a\n\(long)\n\(fitting)\n\(long)\(long)\nb\n\(long)".utf8)
        let chunks = stride(from: 0, to: text.count, by: size).map {
            String(decoding: text[$0..<min($0 + size, text.count)], as: UTF8.self)
        }
        #expect(lines(chunks) == ["a", nil, fitting, nil, "b", nil])
    }

    @Test func `A line is given as soon as its end has come`() {
        var splitter = LineSplitter(limit: 100)
        splitter.add(ByteBuffer(string: "a\nb"))
        #expect(splitter.next() == .text(ByteBuffer(string: "a")))
        #expect(splitter.next() == nil)
        splitter.add(ByteBuffer(string: "\n"))
        #expect(splitter.next() == .text(ByteBuffer(string: "b")))
        #expect(splitter.next() == nil)
        #expect(splitter.finish() == nil)
    }
}
