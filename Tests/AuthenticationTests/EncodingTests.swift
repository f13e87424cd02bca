import SecurePushCore
import Testing

@testable import Authentication

@Suite struct Base64Tests {
    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
    func vectorsOfRFC4648(text: String, encoded: String) {
        #expect(Base64.encode(text.utf8, .standard) == encoded)
        #expect(Base64.decode(encoded, .standard) == Array(text.utf8))
    }

    @Test func everyByteComesBack() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            for alphabet in [Base64.Alphabet.standard, .unpadded, .url] {
                #expect(Base64.decode(Base64.encode(bytes, alphabet), alphabet) == bytes)
            }
        }
    }

    @Test(arguments: ["Zh", "Zg==", "Zm9=", "Z", "Zm9v\n", "Zm+v", "Zm/v", "Zm 9v", "Zm9é"])
    func urlTextsThatAreNotCanonical(text: String) {
        #expect(Base64.decode(text, .url) == nil)
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Zg===", "=Zg=", "Zm-v", "====", "Zg==Zg=="])
    func standardTextsThatAreNotCanonical(text: String) {
        #expect(Base64.decode(text, .standard) == nil)
    }
}

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws -> JSONObject { try JSONReader.object(Array(text.utf8)) }

    @Test func readsEveryKind() throws {
        let text = #" {"a" : [1, -2.5e1, true, false, null, "x"], "b":{"c":"A\u00e9\ud83d\ude00\n\"\\\/"}} "#
        let object = try read(text)
        let elements = try #require(object["a"]?.array)
        #expect(elements.compactMap(\.number) == [1, -25])
        #expect(elements.count == 6)
        #expect(object["b"]?.object?["c"]?.string == "Aé😀\n\"\\/")
        #expect(object["missing"] == nil)
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"b":{"a":1,"a":1}}"#, #"{"a":1}x"#, #"{"a":1,}"#, "{", "", "[]",
        "1", #"{"a":01}"#, #"{"a":1.}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":1e999}"#, #"{"a":NaN}"#,
        #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"\ud800\u0041"}"#, #"{"a":"\x"}"#, "{\"a\":\"\n\"}",
        #"{"a":"\u12"}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a" 1}"#, #"{"a":tru}"#, "{\"a\":1}\u{0}",
        "{\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
    ])
    func refuses(text: String) {
        #expect(throws: JSONReader.Malformed.self) { try read(text) }
    }

    @Test func refusesWhatIsNotUTF8() {
        #expect(throws: JSONReader.Malformed.self) {
            try JSONReader.object(Array(#"{"a":""#.utf8) + [0xFF, 0x22, 0x7D])
        }
    }

    @Test func whatIsWrittenIsRead() throws {
        var writer = JSONWriter()
        writer.add("text", "\u{1}\u{1f}\n\"\\é😀/")
        writer.add("number", 42)
        writer.add("list", ["a", "b"])
        let object = try read(writer.text)
        #expect(object["text"]?.string == "\u{1}\u{1f}\n\"\\é😀/")
        #expect(object["number"]?.number == 42)
        #expect(object["list"]?.array?.compactMap(\.string) == ["a", "b"])
    }
}

@Suite struct AuthorizationHeaderTests {
    @Test(arguments: ["Bearer abc", "bearer abc", "BEARER   abc", " Bearer abc \t", "bEaReR\tabc"])
    func bearer(value: String) throws {
        let header = try #require(AuthorizationHeader(value))
        #expect(header.scheme == .bearer)
        #expect(header.credentials == "abc")
        #expect(header.isToken68)
    }

    @Test(arguments: ["Bearerabc", "Digest abc", "Bear\u{5} abc", "\u{212A}earer abc", "B", "Bearer\u{301} abc"])
    func other(value: String) throws {
        #expect(try #require(AuthorizationHeader(value)).scheme == .other)
    }

    @Test(arguments: ["Bearer", "Bearer =", "Bearer a b", "Bearer a,b", "Bearer a=b", "Bearer é", "Bearer \"a\""])
    func notToken68(value: String) throws {
        #expect(try #require(AuthorizationHeader(value)).isToken68 == false)
    }

    @Test func nothing() {
        #expect(AuthorizationHeader("") == nil)
        #expect(AuthorizationHeader("  ") == nil)
    }
}

@Suite struct GenerationalCacheTests {
    @Test func staysBoundedAndKeepsWhatIsUsed() {
        var cache = GenerationalCache<Int, Int>(capacity: 100)
        cache.insert(-1, for: -1)
        for number in 0..<10_000 {
            cache.insert(number, for: number)
            #expect(cache.value(for: -1) == -1)
            #expect(cache.count <= 101)
        }
        #expect(cache.value(for: 9_999) == 9_999)
        #expect(cache.value(for: 0) == nil)
        cache.remove(-1)
        #expect(cache.value(for: -1) == nil)
    }
}
