import Domain
import Testing

@testable import SecurePushCLI

@Suite struct BatchAnswerTests {
    private static let id = "01997b2c-0000-7000-8000-00000000002a"

    @Test(arguments: [
        (#"{"Id":"ID","Recipient":"a","Status":"accepted"}"#, true),
        (#"{ "Recipient" : "a", "Id" : "ID" }"#, true),
        (#"{"status":503,"title":"Service Unavailable"}"#, false),
        (#"{"status":429,"detail":"\"Id\":\"ID\""}"#, false),
        ("<html>", false), ("{}", false), (#"{"Id":"ID"#, false), (#"{"Id":"7"}"#, false),
    ])
    func `A line is accepted with an ID, or counted`(text: String, isAccepted: Bool) throws {
        let text = text.split(separator: "ID", omittingEmptySubsequences: false).joined(separator: Self.id)
        let id = try #require(NotificationID(Self.id))
        #expect((try PushResult(Array(text.utf8), from: "ingest") == .accepted(id)) == isAccepted)
    }

    @Test func `What is refused for what it is ends the test; what is of the moment is counted`() throws {
        let refused = #"{"status":422,"title":"Unprocessable Content"}"#
        let failure = #expect(throws: CommandFailure.self) { try PushResult(Array(refused.utf8), from: "ingest") }
        #expect(failure?.message == "ingest answered 422: Unprocessable Content.")
        for (line, reason) in [
            (#"{"status":503}"#, "503"), (#"{"status":429}"#, "429"), ("x", "an unreadable answer"),
        ] { #expect(try PushResult(Array(line.utf8), from: "ingest") == .failed(reason)) }
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `Lines come out whole, however the stream is cut`(size: Int) {
        let bytes = Array("one\ntwo\n\nthree".utf8)
        var buffer = LineBuffer()
        var lines: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let chunk = bytes[start..<min(start + size, bytes.count)]
            lines += buffer.feed(chunk).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(lines == ["one", "two"])
        #expect(buffer.rest.map { String(decoding: $0, as: UTF8.self) } == "three")
    }
}
