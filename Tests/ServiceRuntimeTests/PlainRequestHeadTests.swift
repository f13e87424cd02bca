import NIOCore
import NIOEmbedded
import NIOHTTP1
import StackKit
import Testing

@testable import ServiceRuntime

@Suite("Plain heads of requests")
struct PlainRequestHeadTests {
    private static let simple = "GET /api/a HTTP/1.1\r\nHost: a.example:8080\r\nAuthorization:  Bearer x \r\n\r\n"

    private func parse(_ text: String) -> PlainRequestHead.Result {
        Array(text.utf8).withUnsafeBytes { PlainRequestHead.parse($0) }
    }

    private func recognised(_ text: String) -> PlainRequestHead? {
        if case .head(let head) = parse(text) { head } else { nil }
    }

    private func isUnusual(_ text: String) -> Bool {
        if case .unusual = parse(text) { true } else { false }
    }

    @Test func `The parts of a plain head are found`() throws {
        let text = "POST /api/a?b HTTP/1.1\r\nhost: a\r\nCONTENT-LENGTH: 12\r\ncontent-type: text/plain\r\n\r\nbody"
        let head = try #require(recognised(text))
        #expect(text.utf8.count - 4 == head.length)
        #expect(head.line == 0..<13)
        #expect(head.bodyLength == 12 && head.isDirect)
        let type = try #require(head.contentType)
        #expect(Array(text.utf8)[type].elementsEqual("text/plain".utf8))
        #expect(head.authorization == nil)
    }

    @Test func `Blanks around a value are not part of it`() throws {
        let value = try #require(recognised(Self.simple)?.authorization)
        #expect(Array(Self.simple.utf8)[value].elementsEqual("Bearer x".utf8))
    }

    @Test func `Each beginning is incomplete`() {
        let bytes = Array(Self.simple.utf8)
        for count in bytes.indices {
            guard case .incomplete = bytes[..<count].withUnsafeBytes(PlainRequestHead.parse) else {
                Issue.record("The first \(count) bytes are not incomplete.")
                return
            }
        }
    }

    @Test(arguments: ["Expect: 100-continue", "Origin: https://a.example", "origin: null"])
    func `The router answers these, but their framing is plain`(_ field: String) throws {
        #expect(try #require(recognised("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n")).isDirect == false)
    }

    @Test(arguments: [
        "Content-Length: 1\r\nContent-Length: 1", "Content-Length: +1", "Content-Length: 1, 1", "Content-Length:",
        "Content-Length: 0x1", "Content-Length: 1234567890123", "Content-Length : 1", "Transfer-Encoding: chunked",
        "transfer-encoding: identity", "Upgrade: h2c", "Connection: close", "Connection: keep-alive, upgrade",
        "Host: b", "Authorization: a\r\nauthorization: b", " folded: x", "A: x\r\n folded", "A\u{0}: x", "A: \u{0}",
        "A: \u{7F}", "A: \u{E9}", "A(): x", ": x", "no colon", "A: x\ry", "A: x\ny", "A: x\n",
        "A: x\ty", "Content-Length: 1\t",
    ])
    func `Unusual fields are left to the router`(_ field: String) {
        #expect(isUnusual("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n"))
    }

    @Test(arguments: [
        "GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "get / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\tx HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{16}\u{3}\u{1}",
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "GET / http/1.1\r\nHost: a\r\n\r\n",
    ])
    func `Unusual request lines are left to the router`(_ text: String) {
        #expect(isUnusual(text))
    }

    @Test func `Long heads are left to the router`() {
        let field = "A: " + String(repeating: "x", count: PlainRequestHead.maxLength)
        #expect(isUnusual("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n"))
        #expect(isUnusual("GET / HTTP/1.1\r\nHost: a\r\n\(field)"))
        let many = String(repeating: "A: x\r\n", count: 101)
        #expect(isUnusual("GET / HTTP/1.1\r\nHost: a\r\n\(many)\r\n"))
    }

    /// Whoever disagrees with NIO's parser on the end of a message can be made to take a part of one request for
    /// another. Random changes of plain heads are recognised exactly as NIO reads them, or not at all.
    @Test func `What is recognised is what the parser of the router reads`() throws {
        var random = SeededGenerator(seed: 14)
        let parts: [[UInt8]] = [
            "GET ", "POST ", "/api/a", " HTTP/1.1", "\r\n", "\r\n\r\n", "Host: a\r\n", "Content-Length: 3\r\n",
            "content-length: 0\r\n", "Content-Length: 03\r\n", "Transfer-Encoding: chunked\r\n", "X: y\r\n", " ", ":",
            "\n", "\r", "\t", "3\r\nabc\r\n0\r\n\r\n", "abc", "\0", "é", "Connection: keep-alive\r\n", "?", "x",
        ].map { Array($0.utf8) }
        var count = 0
        for _ in 0..<20_000 {
            var bytes = Array("POST /api/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX: y\r\n\r\nabc".utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(contentsOf: parts.randomElement(using: &random) ?? [], at: place)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0..<9, using: &random)))
                default: if place < bytes.count { bytes[place] = UInt8.random(in: .min ... .max, using: &random) }
                }
            }
            guard case .head(let head) = bytes.withUnsafeBytes({ PlainRequestHead.parse($0) }) else { continue }
            let end = head.length + head.bodyLength
            guard bytes.count >= end else { continue }
            count += 1
            guard let read = try? NIOMessage(bytes[..<end]) else {
                Issue.record("NIO refuses \(String(decoding: bytes, as: UTF8.self).debugDescription)")
                continue
            }
            #expect(read.isComplete && read.body == Array(bytes[head.length..<end]), "\(bytes)")
            #expect(read.line.utf8.elementsEqual(bytes[head.line]), "\(bytes)")
        }
        #expect(count > 5000)
    }
}

/// A message as NIO's parser reads it.
private struct NIOMessage {
    var line = ""
    var body: [UInt8] = []
    /// Whether the bytes are exactly one message.
    var isComplete = false

    init(_ bytes: ArraySlice<UInt8>) throws {
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        var ends = 0
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head): line = "\(head.method.rawValue) \(head.uri)"
            case .body(let bytes): body += Array(bytes.readableBytesView)
            case .end: ends += 1
            }
        }
        isComplete = ends == 1
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
