import Foundations
import Testing

struct JSONScannerTests {
    static func kind(_ text: String) throws(JSONSyntaxError) -> JSONSpan.Kind {
        try kind([UInt8](text.utf8))
    }

    static func kind(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONSpan.Kind {
        try bytes.withUnsafeBufferPointer { buffer throws(JSONSyntaxError) in
            var scanner = JSONScanner(buffer)
            return try scanner.document().kind
        }
    }

    static func text(_ json: String) throws(JSONSyntaxError) -> (text: String, length: Int) {
        let bytes = [UInt8](json.utf8)
        return try bytes.withUnsafeBufferPointer { buffer throws(JSONSyntaxError) in
            var scanner = JSONScanner(buffer)
            let span = try scanner.document()
            return (JSONScanner(buffer).text(of: span), span.contentLength)
        }
    }

    @Test(arguments: [
        ("{}", JSONSpan.Kind.object), (" [ ] ", .array), (#""""#, .string), ("0", .number), ("-1.5e+10", .number),
        ("true", .boolean), ("\tnull\r\n", .null), (#"{"a":[1,{"b":null}]}"#, .object), ("1E400", .number),
    ])
    func `What is JSON is taken`(_ text: String, _ kind: JSONSpan.Kind) throws {
        #expect(try Self.kind(text) == kind)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", #"{"a":1,}"#, #"{"a"}"#, "{a:1}", "01", "1.", ".5", "-", "1e", "+1", "tru", "nulls",
        "\"", "\"\u{01}\"", #""\x""#, #""\u12""#, #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, "1 2", "NaN",
        "'a'", "[1 2]", "// x\n1", "\u{FEFF}1",
    ])
    func `What is not JSON is refused`(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try Self.kind(text) }
    }

    /// Plain text is read eight bytes at a time.
    @Test(arguments: ["x", "!", "#", "[", "]", "\u{7F}"])
    func `Every byte of a string is looked at, wherever it is`(_ plain: String) throws {
        for before in 0..<20 {
            let head = String(repeating: plain, count: before)
            for after in 0..<20 {
                let tail = String(repeating: "é", count: after)
                let escaped = try Self.text("\"\(head)\\n\(tail)\"")
                #expect(escaped.text == "\(head)\n\(tail)" && escaped.length == before + 1 + 2 * after)
                let refused = #expect(throws: JSONSyntaxError.self) { try Self.kind("\"\(head)\"\(tail)x") }
                #expect(refused?.offset == before + 2)
            }
            for control in 0..<0x20 as Range<UInt8> {
                let bytes = [0x22] + [UInt8](head.utf8) + [control] + [UInt8](repeating: 0x78, count: 20 - before)
                let refused = #expect(throws: JSONSyntaxError.self) { try Self.kind(bytes + [0x22]) }
                #expect(refused?.offset == before + 1)
            }
        }
    }

    @Test(arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]])
    func `What is not UTF-8 is refused`(_ bytes: [UInt8]) {
        #expect(throws: JSONSyntaxError.self) { try Self.kind(bytes) }
    }

    /// Latin-1, a sequence that is cut off, an overlong one, a surrogate: the place is that of the first byte.
    @Test(
        arguments: [
            ("\"r\u{E9}sum", [0xE9, 0x22], 7), ("[\"0123456789\",\"", [0xFF, 0x22, 0x5D], 15),
            ("\"", [0xE2, 0x82, 0x22], 1),
            ("\"ab", [0xC0, 0x80, 0x22], 3), ("\"\u{1F600}", [0xED, 0xA0, 0x80, 0x22], 5), ("", [0x80], 0),
            ("\"a\"", [0xC3], 3),
        ] as [(String, [UInt8], Int)])
    func `Tells where the text is not UTF8`(_ start: String, _ rest: [UInt8], _ offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try Self.kind(Array(start.utf8) + rest) }
        #expect(error?.offset == offset)
    }

    @Test(arguments: [
        (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{08}\u{0C}\n\r\t"), (#""\u00e9\u20AC""#, "é€"),
        (#""\ud83d\ude00""#, "😀"), (#""é€😀""#, "é€😀"), (#""\u0000""#, "\u{0}"),
    ])
    func `Strings are read`(_ json: String, _ text: String) throws {
        let read = try Self.text(json)
        #expect(read.text.utf8.elementsEqual(text.utf8))
        #expect(read.length == text.utf8.count)
    }

    @Test func `Nesting has a limit`() throws {
        let limit = JSONScanner.maxDepth
        let fitting = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(try Self.kind(fitting) == .array)
        #expect(throws: JSONSyntaxError.self) { try Self.kind("[" + fitting + "]") }
    }

    /// Whatever bytes come, the scanner answers; a mistake here would be a crash of a service.
    @Test func `Any bytes are answered`() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = [UInt8](#"{}[]",:\u0123456789abcdefnulltruesE+-. "#.utf8) + [0x80, 0xFF, 0x00]
        var accepted = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            if (try? Self.kind(bytes)) != nil { accepted += 1 }
        }
        #expect(accepted > 0)
    }

    @Test func `Strings are escaped where JSON asks for it`() throws {
        let text = "\"\\\u{01}\n é😀/"
        #expect(try Self.text(JSONText.quoted(text)).text == text)
    }
}
