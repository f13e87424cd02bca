import Foundation
import Foundations
import Testing

struct OutsideTextTests {
    @Test(arguments: [
        ("a\r\nb\r\n", ["a", "b"]), ("a\nb", ["a", "b"]), ("a\n\nb\n", ["a", "", "b"]), ("", []), ("\n", [""]),
        // The accent joins the line feed before it to one character.
        ("a\n\u{301}b\n", ["a", "\u{301}b"]), ("a\r\n\u{20DD}b", ["a", "\u{20DD}b"]),
    ])
    func `Lines are split at bytes`(text: String, lines: [String]) {
        #expect(OutsideText.lines(text).elementsEqual(lines) { OutsideText.areSame($0, $1) })
    }

    @Test(arguments: [
        "v", " v\n", "v\r\n", "\u{A0}v\u{A0}", "\u{FEFF}v", "v\u{200B}", "\u{3000}v\u{2028}", "\t\u{200E}v \r",
        "v\u{85}",
    ])
    func `Blanks, line ends and invisible characters are trimmed`(text: String) {
        #expect(OutsideText.areSame(OutsideText.trimmed(text), "v"))
    }

    @Test func `A password keeps its first blank and its inner ones`() {
        #expect(OutsideText.areSame(OutsideText.trimmedEnd(" a b \r\n"), " a b"))
    }

    @Test(arguments: [
        ("a\rb", "U+000D"), ("a\u{0}b", "U+0000"), ("a\tb", "U+0009"), ("a\u{7F}", "U+007F"), ("a\u{9B}b", "U+009B"),
        ("a\u{2028}b", "U+2028"), ("a\u{200B}b", "U+200B"), ("a\u{202E}b", "U+202E"), ("a\u{FEFF}b", "U+FEFF"),
    ])
    func `A control character is found and named`(text: String, name: String) {
        #expect(OutsideText.controlCharacter(in: text).map(OutsideText.name) == name)
    }

    @Test(arguments: ["a b", "\u{E9}", "a\u{A0}b", "\u{1F468}\u{200D}\u{1F469}", "\u{645}\u{200C}\u{647}"])
    func `Other characters may stand in a setting`(text: String) {
        #expect(OutsideText.controlCharacter(in: text) == nil)
    }

    @Test func `Parts are split at bytes, too`() {
        #expect(OutsideText.parts("a,,b", at: ",") == ["a", "", "b"])
        #expect(OutsideText.parts("a,\u{301}b", at: ",").count == 2)
        #expect(OutsideText.parts("a=b=c", at: "=", maxSplits: 1) == ["a", "b=c"])
    }

    @Test(arguments: [
        ("a\u{202E}b", #"a\u{202E}b"#), ("\u{1B}[31m", #"\u{1B}[31m"#), ("a\u{200B}", #"a\u{200B}"#),
        ("\u{2066}a", #"\u{2066}a"#), ("a\u{AD}b", #"a\u{AD}b"#), ("\u{3164}", #"\u{3164}"#),
        ("a\u{2029}", #"a\u{2029}"#),
        ("\u{E0041}", #"\u{E0041}"#), ("plain\n\ttext \u{1F600}\u{FE0F}", "plain\n\ttext \u{1F600}\u{FE0F}"),
    ])
    func `Invisible characters are shown as escapes`(text: String, shown: String) {
        #expect(OutsideText.areSame(OutsideText.visible(text), shown))
    }

    @Test func `A byte order mark before JSON is named`() {
        let failure = #expect(throws: JSONSyntaxError.self) {
            try Array("\u{FEFF}{}".utf8).withUnsafeBufferPointer { bytes in
                var scanner = JSONScanner(bytes)
                _ = try scanner.document()
            }
        }
        #expect(failure?.description == "There is a byte order mark (U+FEFF) before the value at byte 0")
    }

    @Test func `A file is read without its byte order mark`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("\u{FEFF}k \r\n".utf8).write(to: file)
        #expect(try FileContent(path: file.path).text.utf8.elementsEqual("k \r\n".utf8))
        #expect(try FileContent(path: file.path).textWithoutEnd == "k")
    }
}

struct PublicURLTests {
    @Test(arguments: [
        ("https://u:p@h:1/path?sig=s#f", "https://h:1"), ("postgres://u:p@ss@db:5432/d", "postgres://db:5432"),
        ("amqp://u:a,b@h/%2F,amqps://u:p@i:5671", "amqp://h,amqps://i:5671"), ("http://[::1]:80/x", "http://[::1]:80"),
        ("postgres://u:p@a:1,b:2/d?password=s", "postgres://a:1,b:2"), ("https://h", "https://h"),
        // It is not certain where the host begins.
        ("postgres://u:p/w@h/d", "postgres://(hidden)"), ("amqp://u:12/w@h", "amqp://(hidden)"),
        ("http://u:p?x@h/", "http://(hidden)"), ("http://u:p#x@h/", "http://(hidden)"),
        ("http://u:secret", "http://(hidden)"),
        ("secret@h", "(hidden)"), ("", "(hidden)"), ("http://", "http://(hidden)"), ("://x", "(hidden)"),
        ("http://h\u{202E}/", "http://(hidden)"), ("http://u:\u{301}@h/", "http://h"),
    ])
    func `Only scheme, host and port are shown`(url: String, shown: String) {
        #expect(PublicURL.describe(url) == shown)
    }
}

struct ErrorTextTests {
    struct Foreign: Error, CustomStringConvertible { let description: String }

    @Test func `The text of a library's error is not shown`() throws {
        #expect(!ErrorText.describe(Foreign(description: "Bearer spk_secret")).contains("spk"))
        #expect(!ErrorText.describe(POSIXError(.ENOENT, userInfo: ["a": "spk"])).contains("spk"))
        let decoding = #expect(throws: (any Error).self) {
            try JSONDecoder().decode(Int.self, from: Data("\"spk\"".utf8))
        }
        #expect(try !ErrorText.describe(#require(decoding)).contains("spk"))
    }

    @Test func `The text of a SecurePush error is`() {
        #expect(ErrorText.describe(SetupError(.malformed, "it is no key")) == "it is no key")
    }
}
