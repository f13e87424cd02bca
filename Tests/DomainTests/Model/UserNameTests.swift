import Domain
import Testing

struct UserNameTests {
    @Test(arguments: [
        ("a", true), ("", false), (String(repeating: "a", count: 1024), true),
        (String(repeating: "a", count: 1025), false),
        (String(repeating: "\u{E9}", count: 512), true), (String(repeating: "\u{E9}", count: 513), false),
        ("a\u{0}b", false), ("a\nb", false), ("a\u{1F}", false), ("a\u{7F}", false),
        ("a\u{80}", false), ("a\u{9F}", false),
        ("a\u{A0}", true), (" ", true), ("\u{200B}", true), ("#*()|&!", true),
    ])
    func `1 to 1,024 bytes without control characters`(_ text: String, _ isValid: Bool) {
        #expect((UserName(text) != nil) == isValid)
    }

    @Test(arguments: [
        ("\u{E9}", "e\u{301}"), ("\u{212B}", "\u{C5}"), ("\u{1E69}", "s\u{323}\u{307}"),
        ("\u{AC00}", "\u{1100}\u{1161}"),
    ])
    func `Canonically equivalent names are two names`(_ one: String, _ other: String) throws {
        let names = (try #require(UserName(one)), try #require(UserName(other)))
        #expect(one == other)
        #expect(names.0 != names.1)
        #expect(Set([names.0, names.1]).count == 2)
        #expect(names.0.tag != names.1.tag)
    }

    @Test func `Equal bytes are equal names`() {
        #expect(UserName("alice") == UserName("alice"))
        #expect(Set([UserName("alice"), UserName("alice")]).count == 1)
    }
}
