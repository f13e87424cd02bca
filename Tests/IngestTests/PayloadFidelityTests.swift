import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Ingest

/// A payload is given back exactly as it came: what is sealed is its own bytes.
@Suite("Payloads through POST /api/notifications", .bothWays)
struct PayloadFidelityTests {
    static let numbers = [
        "0", "-0", "0.10", "-0.0", "1.0", "1e400", "-1E-400", "1E+2", "1e00002", "123456789012345678901234567890",
        "0.1234567890123456789012345678901234567890", "9007199254740993",
        String(repeating: "9", count: 5000) + "." + String(repeating: "0", count: 5000),
    ]

    static let strings = [
        #""""#, #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""a\u0000b\u0000""#, #""\u001f\u007F\u0080""#,
        #""\u00E9\u00e9""#,
        #""\ud83d\ude00\uD83D\uDE00""#, #""/ \/ <script>&amp;""#, #""\u2028\u2029""#, "\"\u{2028}\u{2029}\u{FEFF}\"",
        "\"\u{7F}\"",
        "\"é e\u{301} \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{1F1E9}\u{1F1EA} \u{10FFFF} \u{FFFF}\"",
        "\"\u{AC00} \u{1100}\u{1161} \u{FB01} \u{212B} \u{202E}rtl\"", #""null""#, #"" leading and trailing ""#,
    ]

    static let others = [
        "null", "true", "false", "[]", "{}", "[ ]", "{ }", "[null,null]", "[[[[]]],[{}]]",
        #"{"b":1,"a":2,"B":3}"#, #"{"a":1,"a":2,"a":1}"#, #"{"":{"":""}}"#, #"{"a":{"x":1,"x":[{"y":1,"y":2}]}}"#,
        #"{"\u0061":1,"a":2}"#, #"{"Recipient":"mallory","Payload":2,"Id":"x"}"#,
        "{\n\t\"a\" : [ 1 ,\r\n 2 ]\n}", "[1.50,-0,1e400,\"\\u0041\",null,{\"z\":0,\"y\":0.0}]",
    ]

    @Test(arguments: [numbers, strings, others])
    func `Payloads come back byte for byte`(_ payloads: [String]) async throws {
        try await withIngest { bench in
            for (index, payload) in payloads.enumerated() {
                // In the middle or at the end, with white space around it, which is not part of it.
                let body =
                    index % 2 == 0
                    ? "{\"Payload\":\t\(payload)\r\n , \"Recipient\":\"alice\"}"
                    : "{\"Recipient\":\"alice\",\"Payload\": \(payload) }"
                let answer = try await bench.post(body)
                #expect(answer.status == .created, "\(answer.text)")
                let id = try #require((try answer.object()["Id"] as? String).flatMap { NotificationID($0) })
                let opened = try await bench.payload(id, of: "alice")
                #expect(opened.utf8.elementsEqual(payload.utf8), "\(payload)")
            }
        }
    }

    @Test(arguments: [
        "01", "-", "-01", "1.", ".5", "+1", "1e", "1e+", "0x1", "NaN", "Infinity", "-Infinity", "True", "nul", "",
        "undefined", "'a'", #""\x41""#, #""\u12G4""#, #""\ud800""#, #""\ude00\ud83d""#, "\"\n\"", "\"\t\"", "\"\u{0}\"",
        "[1,]", "[,1]", #"{"a":1,}"#, "{a:1}", #"{"a" 1}"#, "[1 2]", "1 2", "/* x */1", "\u{FEFF}1",
    ])
    func `What is not JSON is 400`(_ payload: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.post(#"{"Recipient":"alice","Payload":\#(payload)}"#)
            try answer.expectProblem(400)
            #expect(try await bench.store.backlog(now: .now).count == 0)
        }
    }

    /// Overlong, surrogates, past U+10FFFF, cut short, a lone continuation.
    @Test(
        arguments: [
            [0xC0, 0x80], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0x80],
            [0xC3, 0x28],
        ] as [[UInt8]])
    func `What is not UTF-8 is 400`(_ bytes: [UInt8]) async throws {
        try await withIngest { bench in
            let body = [UInt8](#"{"Recipient":"alice","Payload":""#.utf8) + bytes + [UInt8](#""}"#.utf8)
            let answer = try await bench.client.execute(
                uri: "/api/notifications", method: .post,
                headers: [.authorization: bench.credentials.sender, .contentType: "application/json"],
                body: ByteBuffer(bytes: body))
            try answer.expectProblem(400)
        }
    }

    /// The body's own object is the first level.
    @Test func `Nesting has a limit`() async throws {
        try await withIngest { bench in
            let levels = JSONScanner.maxDepth - 1
            for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
                let core = open == "[" ? "" : "1"
                let fitting =
                    String(repeating: open, count: levels) + core + String(repeating: close, count: levels)
                #expect(try await bench.post(#"{"Recipient":"alice","Payload":\#(fitting)}"#).status == .created)
                let deeper = open + fitting + close
                let answer = try await bench.post(#"{"Recipient":"alice","Payload":\#(deeper)}"#)
                try answer.expectProblem(400)
                #expect(answer.text.contains("Nested deeper than"))
                // So deep that a parser without a limit would run out of stack.
                let abyss = String(repeating: open, count: 300_000)
                try (try await bench.post(#"{"Recipient":"alice","Payload":\#(abyss)}"#)).expectProblem(400)
            }
        }
    }
}

@Suite("Limits of POST /api/notifications", .bothWays)
struct PayloadLimitTests {
    static let limit = 256 * 1024

    /// A payload of the limit, and the same with one byte more of what is counted.
    struct Edge: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fitting: String
        let larger: String

        init(_ name: String, _ make: (_ extra: String) -> String, extra: String = "x") {
            testDescription = name
            fitting = make("")
            larger = make(extra)
        }
    }

    static let edges = [
        Edge("a string of ASCII", { "\"" + String(repeating: "x", count: limit) + $0 + "\"" }),
        Edge("a string of two bytes a character", { "\"" + String(repeating: "é", count: limit / 2) + $0 + "\"" }),
        Edge("a string of four bytes", { "\"" + String(repeating: "\u{1F600}", count: limit / 4) + $0 + "\"" }),
        Edge(
            "escapes count as the text they stand for",
            {
                "\"" + String(repeating: #"\u0041"#, count: limit) + $0 + "\""
            }),
        Edge("a line feed is one byte", { "\"" + String(repeating: #"\n"#, count: limit) + $0 + "\"" }, extra: #"\n"#),
        Edge("a NUL is one byte", { "\"" + String(repeating: #"\u0000"#, count: limit) + $0 + "\"" }),
        Edge(
            "a pair of surrogates is four bytes",
            {
                "\"" + String(repeating: #"\ud83d\ude00"#, count: limit / 4) + $0 + "\""
            }),
        Edge("a number", { String(repeating: "7", count: limit) + $0 }, extra: "7"),
        Edge(
            "an array counts with its brackets and blanks",
            {
                "[" + String(repeating: " ", count: limit - 3) + $0 + "1]"
            }, extra: " "),
        Edge(
            "a string in an array counts its escapes as JSON",
            {
                "[\"" + String(repeating: #"\n"#, count: (limit - 4) / 2) + $0 + "\"]"
            }),
        Edge("an object", { #"{"a":""# + String(repeating: "x", count: limit - 8) + $0 + #""}"# }),
    ]

    @Test(arguments: edges)
    func `A payload holds 256 KiB`(_ edge: Edge) async throws {
        try await withIngest { bench in
            // Blanks around a value are not part of it.
            let answer = try await bench.post(#"{"Recipient":"alice","Payload":  \#(edge.fitting)  }"#)
            #expect(answer.status == .created, "\(answer.text)")
            let id = try #require((try answer.object()["Id"] as? String).flatMap { NotificationID($0) })
            let opened = try await bench.payload(id, of: "alice")
            #expect(opened.utf8.elementsEqual(edge.fitting.utf8))
            let refused = try await bench.post(#"{"Recipient":"alice","Payload":\#(edge.larger)}"#)
            try refused.expectProblem(413)
            #expect(try refused.pointers() == ["/Payload"])
            #expect(try await bench.store.backlog(now: .now).count == 1)
        }
    }

    @Test func `A body holds 2 MiB however it comes`() async throws {
        try await withIngest { bench in
            let good = #"{"Recipient":"alice","Payload":1}"#
            let fitting = String(repeating: " ", count: 2 * 1024 * 1024 - good.utf8.count) + good
            #expect(try await bench.post(fitting).status == .created)
            // Larger, it is refused before it is looked at: JSON or not, and whoever may not send it.
            for larger in [fitting + " ", String(repeating: "{", count: 2 * 1024 * 1024 + 1)] {
                let answer = try await bench.post(larger)
                try answer.expectProblem(413)
                #expect(try answer.pointers().isEmpty)
            }
            // Told by its length, it is refused unread.
            let unread = try await bench.client.execute(
                uri: "/api/notifications", method: .post,
                headers: [
                    .authorization: bench.credentials.sender, .contentType: "application/json",
                    .contentLength: "2097153",
                ])
            try unread.expectProblem(413)
            #expect(try await bench.store.backlog(now: .now).count == 1)
        }
    }

    @Test func `Escaped names are the same members`() async throws {
        try await withIngest { bench in
            let answer = try await bench.post(#"{"\u0052ecipient":"alice","P\u0061yload":1,"payload":2}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Payload"])
        }
    }
}
