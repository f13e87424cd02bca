import Domain

/// The tags of users.
enum TagVectors {
    static func cases() -> [VectorCase] {
        names.map { name, user in
            VectorCase(
                name, ["user": JSONLiteral(user), "expect": ["tag": JSONLiteral(UserName(user)?.tag)]])
        }
    }

    private static let names: [(String, String)] = [
        ("plain", "alice"), ("all that stays", "abcdefghijklmnopqrstuvwxyz0123456789_@.:-"), ("capital", "Alice"),
        ("number sign", "#"), ("looks encoded", "#41lice"), ("blank", "a b"), ("e-mail address", "Alice@Example.com"),
        ("operators", "a && b || !c"), ("quotation mark", "a'b\"c"), ("brackets", "{[(<a>)]}"),
        ("composed letter", "\u{e9}"), ("decomposed letter", "e\u{301}"), ("emoji", "\u{1F511}"),
        ("right-to-left", "\u{202E}ecila"), ("line separator", "\u{2028}"), ("last scalar", "\u{10FFFF}"),
        ("looks like a tag", "username:alice"), ("looks hashed", "##"), ("dollar", "$UserId:alice"),
        ("111 bytes: the longest that stays", String(repeating: "x", count: 111)),
        ("112 bytes: hashed", String(repeating: "x", count: 112)),
        ("37 capitals: the longest that stays", String(repeating: "A", count: 37)),
        ("38 capitals: hashed", String(repeating: "A", count: 38)),
        ("1,024 bytes", String(repeating: "x", count: 1_024)),
        ("1,024 bytes of two each", String(repeating: "é", count: 512)),
        ("empty", ""), ("1,025 bytes", String(repeating: "x", count: 1_025)),
        ("1,025 bytes in 513 letters", String(repeating: "é", count: 512) + "x"), ("NUL", "a\u{0}"), ("tab", "a\tb"),
        ("line feed", "alice\n"), ("escape", "\u{1B}[2J"), ("DEL", "a\u{7F}"), ("C1", "a\u{85}b"),
        ("last C1", "\u{9F}"),
        ("after C1", "\u{A0}"),
    ]
}
