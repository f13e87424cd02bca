import Foundations

/// Pushes that the server never sends.
enum HostileVectors {
    static func pushes() -> [VectorCase] { objects() + data() + texts() + raws() }

    private static let id = VectorKeys.pushed

    private static func refuse(_ name: String, _ form: String, _ push: JSONLiteral) -> VectorCase {
        PushVectors.push(name, form, push, PushVectors.rejected("SP-PUSH"))
    }

    /// IDs that are none.
    private static let ids: [(String, String)] = [
        ("empty", ""), ("a blank", " "), ("a path", "\(id)/../../token"), ("dots", ".."), ("a query", "\(id)?x=1"),
        ("a fragment", "\(id)#x"), ("percent", "%2e%2e"), ("an address", "https://evil.example/\(id)"),
        ("a host", "//evil.example"), ("NUL", "\(id)\u{0}"), ("a line feed", "\(id)\n"), ("escape", "\u{1B}[2J"),
        ("right-to-left", "\u{202E}\(id)"), ("other digits", "\u{661}\u{662}"), ("an accent", "e\u{301}"),
        ("a mark of byte order", "\(id)\u{FEFF}"), ("8 KiB", String(repeating: "x", count: 8_000)),
        ("a backslash", "a\\b"),
        ("a semicolon", "a;b"), ("an at", "a@b"), ("a quotation mark", "a\"b"), ("a brace", "{\(id)}"),
    ]

    private static func objects() -> [VectorCase] {
        let values: [(String, JSONLiteral)] = [
            ("a number", 7), ("zero", 0), ("true", true), ("null", nil), ("an array", [JSONLiteral(id)]),
            ("an object", ["secureId": JSONLiteral(id)]), ("an empty object", [:]),
        ]
        let withdraws: [(String, JSONLiteral)] = [
            ("a number", 1), ("true", true), ("false", false), ("null", nil), ("an array", ["1"]), ("empty", ""),
            ("0", "0"), ("true as text", "true"), ("1 with a blank", "1 "), ("2", "2"),
        ]
        var cases = values.map { name, value in refuse("apple: the ID is \(name)", "object", ["secureId": value]) }
        cases += withdraws.map { name, value in
            refuse("apple: withdraw is \(name)", "object", ["secureId": JSONLiteral(id), "withdraw": value])
        }
        let accepted = PushVectors.accepted(id)
        cases += values.map { name, value in
            PushVectors.push(
                "apple: ts and sig are \(name)", "object", ["secureId": JSONLiteral(id), "ts": value, "sig": value],
                accepted)
        }
        cases.append(
            PushVectors.push(
                "apple: a host beside the ID", "object",
                [
                    "secureId": JSONLiteral(id), "host": "evil.example", "url": "https://evil.example",
                    "payload": "forged",
                ],
                accepted))
        return cases
    }

    private static func data() -> [VectorCase] {
        ids.map { name, value in refuse("fcmv1: the ID is \(name)", "data", ["secureId": JSONLiteral(value)]) }
            + [
                refuse("fcmv1: withdraw is true", "data", ["secureId": JSONLiteral(id), "withdraw": "true"]),
                refuse("fcmv1: withdraw is empty", "data", ["secureId": JSONLiteral(id), "withdraw": ""]),
                PushVectors.push(
                    "fcmv1: names in another case", "data", ["SecureId": JSONLiteral(id)],
                    PushVectors.rejected("foreign")),
            ]
    }

    private static func texts() -> [VectorCase] {
        let long = "{\"secureId\":\"\(id)\",\"x\":\"" + String(repeating: "x", count: 8_192) + "\"}"
        var cases = [
            ("empty", ""), ("no JSON", "hello"), ("an ID alone", id), ("a JSON text", "\"\(id)\""), ("a number", "7"),
            ("null", "null"), ("an array", "[\"\(id)\"]"), ("half an object", "{\"secureId\":\"\(id)\""),
            ("two objects", "{\"secureId\":\"\(id)\"}{}"), ("too long", long),
            ("deep", String(repeating: "[", count: 8_000)), ("a number as ID", "{\"secureId\":7}"),
            ("an object as ID", "{\"secureId\":{\"secureId\":\"\(id)\"}}"),
            ("single quotation marks", "{'secureId':'\(id)'}"),
            ("an escape in the ID", "{\"secureId\":\"\(id)\\n\"}"),
            ("an escaped slash in the ID", "{\"secureId\":\"a\\/b\"}"),
            ("two IDs", "{\"secureId\":\"\(id)\",\"secureId\":\"\(id)\"}"),
            ("two IDs, one escaped", "{\"secureId\":\"\(id)\",\"secure\\u0049d\":\"7\"}"),
            ("a name twice, deeper", "{\"secureId\":\"\(id)\",\"x\":[{\"y\":1,\"y\":1}]}"),
            ("a lone surrogate", "{\"secureId\":\"\(id)\",\"x\":\"\\ud800\"}"),
            (
                "33 levels",
                "{\"secureId\":\"\(id)\",\"x\":\(String(repeating: "[", count: 32) + String(repeating: "]", count: 32))}"
            ),
        ].map { name, text in refuse("browser: \(name)", "text", JSONLiteral(text)) }
        cases += [
            ("no UTF-8", [0x7B, 0xFF, 0xFE, 0x7D]), ("zeros", [UInt8](repeating: 0, count: 64)),
            ("no UTF-8 in the ID", Array("{\"secureId\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)),
        ].map { (name: String, bytes: [UInt8]) in
            refuse("browser: \(name)", "bytes", JSONLiteral(Base64.encode(bytes, .standard)))
        }
        return cases
    }

    private static func raws() -> [VectorCase] {
        let words = [
            ("empty", ""), ("a blank", " "), ("a line feed", "\n"), ("JSON", "{\"secureId\":\"\(id)\"}"),
            ("withdraw alone", "withdraw now"), ("Withdraw", "\(id) Withdraw"),
            ("withdrawn twice", "\(id) withdraw withdraw"),
            ("five values", "\(id) a b c d"), ("a tab", "\(id)\twithdraw"), ("a blank at the beginning", " \(id)"),
            ("too long", "\(id) 1800000000 " + String(repeating: "A", count: 8_192)),
            ("a line between", "\(id)\n1800000000 AA"),
        ].map { name, text in refuse("windows: \(name)", "raw", JSONLiteral(text)) }
        let bad = ids.filter { !["empty", "a blank", "a line feed"].contains($0.0) }
        return words + bad.map { name, text in refuse("windows: the ID is \(name)", "raw", JSONLiteral(text)) }
    }
}
