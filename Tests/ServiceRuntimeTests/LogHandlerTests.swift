import Foundation
import Foundations
import Logging
import Synchronization
import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("Log lines")
struct LogHandlerTests {
    /// Takes lines instead of standard error.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func append(_ bytes: [UInt8]) { lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }

    private func json(_ body: (inout Logger) -> Void) throws -> [String: Any] {
        let lines = Lines()
        var logger = Logger(label: "outbox") { JSONLogHandler(label: $0, service: "ingest") { lines.append($0) } }
        body(&logger)
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1)
        #expect(line.hasSuffix("}\n") && !line.dropLast().contains("\n"))
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func text(isColoured: Bool = false, _ body: (inout Logger) -> Void) throws -> String {
        let lines = Lines()
        var logger = Logger(label: "x") { TextLogHandler(label: $0, isColoured: isColoured) { lines.append($0) } }
        body(&logger)
        return try #require(lines.all.first)
    }

    @Test func `A line of JSON has these members`() throws {
        let line = try json { $0.warning("Broker is away", metadata: ["attempt": "3"]) }
        #expect(line["severity_text"] as? String == "WARN")
        #expect(line["severity_number"] as? Int == 13)
        #expect(line["body"] as? String == "Broker is away")
        #expect(line["scope"] as? String == "outbox")
        #expect(line["attributes"] as? [String: String] == ["attempt": "3"])
        #expect(
            line["resource"] as? [String: String]
                == ["service.name": "ingest", "service.version": SecurePushVersion.current])
        let timestamp = try #require(line["timestamp"] as? String)
        #expect(timestamp.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test func `A trace has fields of its own`() throws {
        let line = try json { $0.info("x", metadata: ["span_id": "s", "trace_id": "t", "attempt": "3"]) }
        #expect(line["trace_id"] as? String == "t")
        #expect(line["span_id"] as? String == "s")
        #expect(line["attributes"] as? [String: String] == ["attempt": "3"])
    }

    @Test(arguments: [
        "plain", "\"quoted\" \\ back", "line\nbreak\r\n",
        "tab\tand\u{0}\u{1}\u{1F}\u{7F}\u{1B}[31m", "ünï 🎉 \u{2028}",
        String(decoding: [0x61, 0xFF, 0xC3], as: UTF8.self), "",
    ])
    func `Any text survives JSON`(text: String) throws {
        let line = try json { $0.info("\(text)", metadata: ["\(text)k": "\(text)"]) }
        #expect(line["body"] as? String == text)
        #expect(line["attributes"] as? [String: String] == ["\(text)k": text])
    }

    @Test func `Nested metadata is nested JSON`() throws {
        let line = try json {
            $0.info("x", metadata: ["a": ["1", ["2"]], "d": ["k": "v"], "n": .stringConvertible(7)])
        }
        let attributes = try #require(line["attributes"] as? [String: Any])
        #expect((attributes["a"] as? [Any])?.first as? String == "1")
        #expect(attributes["d"] as? [String: String] == ["k": "v"])
        #expect(attributes["n"] as? String == "7")
    }

    @Test func `Metadata is merged and nothing is left empty`() throws {
        let line = try json { logger in
            logger[metadataKey: "hb.request.id"] = "r1"
            logger[metadataKey: "a"] = "own"
            logger.info("x", error: SetupError(.malformed, "went wrong"), metadata: ["a": "given"])
        }
        let attributes = try #require(line["attributes"] as? [String: String])
        #expect(attributes["request_id"] == "r1")
        #expect(attributes["hb.request.id"] == nil)
        #expect(attributes["a"] == "given")
        #expect(attributes["error.message"] == "went wrong")
        #expect(attributes["error.type"] == "Foundations.SetupError")
        #expect(try json { $0.info("x") }["attributes"] == nil)
    }

    @Test func `A line of text has the time, the level and sorted metadata`() throws {
        let line = try text { $0.notice("Ready", metadata: ["b": "two words", "a": "1", "c": "x\ny"]) }
        #expect(line.dropFirst(24) == #" notice   Ready a=1 b="two words" c="x\ny""# + "\n")
        #expect(line.prefix(24).wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test func `A text line cannot be forged`() throws {
        let line = try text { $0.info("one\n2026 error two\u{1B}[0m") }
        #expect(line.filter(\.isNewline).count == 1)
        #expect(!line.contains("\u{1B}"))
        for scalar in ["\u{202E}", "\u{200B}", "\u{2066}", "\u{9B}", "\u{85}", "\u{2028}"] as [Unicode.Scalar] {
            let line = try text { $0.info("a\(scalar)b", metadata: ["k": "c\(scalar)d"]) }
            let escape = "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            #expect(line.hasSuffix(" a\(escape)b k=\"c\(escape)d\"\n"), "\(line)")
        }
        let quoted = try text { $0.info("x", metadata: ["k": "\"\\\n\t"]) }
        #expect(quoted.hasSuffix(#" x k="\"\\\n\t""# + "\n"), "\(quoted)")
    }

    @Test func `A terminal gets colours`() throws {
        let line = try text(isColoured: true) { $0.error("x", metadata: ["a": "1"]) }
        #expect(line.dropFirst(25) == "\u{1B}[31merror\u{1B}[0m    x \u{1B}[2ma=1\u{1B}[0m\n")
    }

    @Test(
        arguments: [
            ([:], true, LoggingConfiguration(level: .info, format: .text, isColoured: true)),
            ([:], false, LoggingConfiguration(level: .info, format: .json, isColoured: false)),
            (["NO_COLOR": "1"], true, LoggingConfiguration(level: .info, format: .text, isColoured: false)),
            (["NO_COLOR": ""], true, LoggingConfiguration(level: .info, format: .text, isColoured: true)),
            (["TERM": "dumb"], true, LoggingConfiguration(level: .info, format: .text, isColoured: false)),
            (
                ["LOG_FORMAT": "json", "LOG_LEVEL": "trace"], true,
                LoggingConfiguration(level: .trace, format: .json, isColoured: true)
            ),
        ] as [([String: String], Bool, LoggingConfiguration)])
    func `The form of the log follows the terminal and the settings`(
        environment: [String: String], isTerminal: Bool, expected: LoggingConfiguration
    ) {
        var reader = ConfigurationReader(environment: environment)
        #expect(LoggingConfiguration.read(&reader, isTerminal: isTerminal) == expected)
    }
}
