import Crypto
import Domain
import Foundations
import Testing

struct UserNameTagTests {
    @Test(arguments: [
        ("alice", "username:alice"), ("Alice", "username:#41lice"), ("a b", "username:a#20b"),
        ("#", "username:#23"),
        ("\u{E9}", "username:#c3#a9"), ("e\u{301}", "username:e#cc#81"), ("a_@.:-9", "username:a_@.:-9"),
        ("x||y&&!(z)", "username:x#7c#7cy#26#26#21#28z#29"), ("##ab", "username:#23#23ab"),
        (String(repeating: "a", count: 111), "username:" + String(repeating: "a", count: 111)),
    ])
    func `The tags of known names are fixed`(_ name: String, _ tag: String) throws {
        #expect(try #require(UserName(name)).tag == tag)
    }

    @Test(arguments: [
        String(repeating: "a", count: 112), String(repeating: "A", count: 38),
        String(repeating: "\u{1F511}", count: 256),
    ])
    func `What would pass 120 characters is a hash`(_ name: String) throws {
        let digest = SHA256.hash(data: Array(name.utf8)).hex
        #expect(try #require(UserName(name)).tag == "username:##" + digest)
    }

    /// Short texts of few letters, so that near misses are many: what case, escapes and normalising might fold.
    private func randomName(_ generator: inout some RandomNumberGenerator) -> String {
        let letters = [
            "a", "A", "b", "#", "2", "3", "4", "1", "c", "\u{E9}", "e\u{301}", "@", " ", "_", "|", "k", "\u{212A}", "i",
            "\u{130}", "##", "#41",
        ]
        let isLong = Int.random(in: 0..<4, using: &generator) == 0
        let count = Int.random(in: isLong ? 30...200 : 1...5, using: &generator)
        return (0..<count).map { _ in letters.randomElement(using: &generator) ?? "" }.joined()
    }

    @Test func `Distinct names have distinct tags of allowed characters, and of 120 at most`() throws {
        var generator = SystemRandomNumberGenerator()
        var names: [String: UserName] = [:]
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789_@.:-#")
        for _ in 0..<50_000 {
            let name = try #require(UserName(randomName(&generator)))
            let tag = name.tag
            #expect(tag.count <= 120 && tag.hasPrefix("username:") && tag.allSatisfy(allowed.contains))
            // The hub folds case; there is none left to fold.
            #expect(tag == tag.lowercased())
            if let other = names.updateValue(name, forKey: tag) { #expect(other == name) }
        }
        #expect(names.count > 10_000)
    }
}
