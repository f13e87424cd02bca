import SecurePushCore

/// Pushes that the server never sends, and answers that it never gives.
enum HostileVectors {
    // MARK: Pushes

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

    // MARK: Answers

    static func answers() throws -> [VectorCase] { try fetches() + inboxes() + tokens() + forgeries() }

    /// A wake in which the first requests of a stage get this answer, and the app's next start.
    private static func scenario(
        _ name: String, _ stage: String, _ answer: ServerModel.Answer, _ adjust: (inout Scenario) -> Void = { _ in }
    ) throws -> VectorCase {
        var scenario = Scenario(name: name, labels: [("stage", stage)])
        scenario.wakes = [
            Scenario.Wake(before: { $0.fault = { request, _ in request.stage == stage ? answer : nil } }),
            Scenario.Wake(kind: .catchUp, pause: 60_000, before: { $0.fault = { _, _ in nil } }),
        ]
        scenario.items.removeFirst()
        adjust(&scenario)
        return try scenario.vectorCase()
    }

    private static func ok(_ body: String) -> ServerModel.Answer {
        .response(after: 50, status: 200, headers: [("Content-Type", "application/json")], body: body)
    }

    private static func fetches() throws -> [VectorCase] {
        let bodies: [(String, String)] = [
            ("empty", ""), ("HTML", "<html><body>Log in</body></html>"), ("null", "null"), ("an array", "[]"),
            ("a text", "\"secret\""), ("an empty object", "{}"), ("no payload", "{\"Id\":\"\(id)\"}"),
            ("no ID", "{\"Payload\":\"forged\"}"), ("a number as ID", "{\"Id\":7,\"Payload\":\"forged\"}"),
            ("a path as ID", "{\"Id\":\"../\(id)\",\"Payload\":\"forged\"}"),
            ("another ID", "{\"Id\":\"\(VectorKeys.third)\",\"Payload\":\"forged\"}"),
            ("the ID in upper case", "{\"Id\":\"\(id.uppercased())\",\"Payload\":\"forged\"}"),
            ("names in lower case", "{\"id\":\"\(id)\",\"payload\":\"forged\"}"),
            ("half", "{\"Id\":\"\(id)\",\"Payload\":\"for"),
            ("something after it", "{\"Id\":\"\(id)\",\"Payload\":\"x\"} x"),
            ("a text as Read", "{\"Id\":\"\(id)\",\"Payload\":\"x\",\"Read\":\"no\"}"),
            ("a text as Unread", "{\"Id\":\"\(id)\",\"Payload\":\"x\",\"Read\":false,\"Unread\":\"1\"}"),
            ("a negative Unread", "{\"Id\":\"\(id)\",\"Payload\":\"x\",\"Read\":false,\"Unread\":-1}"),
            ("a huge Unread", "{\"Id\":\"\(id)\",\"Payload\":\"x\",\"Read\":false,\"Unread\":99999999999999999999}"),
            ("a fraction as Unread", "{\"Id\":\"\(id)\",\"Payload\":\"x\",\"Read\":false,\"Unread\":0.5}"),
            ("deep", String(repeating: "[", count: 50_000)),
            ("a control character", "{\"Id\":\"\(id)\",\"Payload\":\"a\nb\"}"),
            ("a wrong escape", "{\"Id\":\"\(id)\",\"Payload\":\"\\x41\"}"),
            ("a comment", "{\"Id\":\"\(id)\",/**/\"Payload\":\"x\"}"),
            ("a comma at the end", "{\"Id\":\"\(id)\",\"Payload\":\"x\",}"),
            ("NaN", "{\"Id\":\"\(id)\",\"Payload\":NaN}"),
        ]
        var cases = try bodies.map { name, body in try scenario("fetch: \(name)", "fetch", ok(body)) }
        let gateway = ServerModel.Answer.response(
            after: 50, status: 404, headers: [("Content-Type", "application/json")],
            body: "{\"message\":\"no Route matched\"}")
        cases += [
            try scenario("fetch: 2 MiB", "fetch", .bytes(after: 50, status: 200, count: 2 << 20)),
            try scenario("fetch: 2 MiB and a byte", "fetch", .bytes(after: 50, status: 200, count: 2 << 20 + 1)),
            try scenario("fetch: 100 MB", "fetch", .bytes(after: 50, status: 200, count: 100_000_000)),
            try scenario(
                "fetch: more members", "fetch",
                ok(
                    "{\"Id\":\"\(id)\",\"Payload\":\"x\",\"Read\":false,\"Unread\":0,\"Host\":\"evil.example\"}"
                )),
            try scenario("fetch: neither Read nor Unread", "fetch", ok("{\"Payload\":\"x\",\"Id\":\"\(id)\"}")),
            try scenario("fetch: 404 of a gateway", "fetch", gateway),
            try scenario("report: 404 of a gateway", "markShown", gateway),
        ]
        for status in [301, 302, 303, 307, 308] {
            for place in ["https://evil.example/", "http://push.example.com/", "/api/notifications/\(id)"] {
                cases.append(
                    try scenario(
                        "fetch: \(status) to \(place)", "fetch",
                        .response(after: 50, status: status, headers: [("Location", place)])))
            }
        }
        return cases
    }

    private static func inboxes() throws -> [VectorCase] {
        func entry(_ id: String) -> String {
            "{\"Id\":\"\(id)\",\"CreatedAt\":\"2027-01-15T08:00:00.000Z\",\"Read\":false}"
        }
        let many = (0..<201).map { entry("x\($0)") }.joined(separator: ",")
        let bodies: [(String, String)] = [
            ("empty", ""), ("an array", "[]"), ("an empty object", "{}"), ("no Unread", "{\"Notifications\":[]}"),
            ("no list", "{\"Unread\":0}"), ("an object as list", "{\"Notifications\":{},\"Unread\":0}"),
            ("numbers in the list", "{\"Notifications\":[7],\"Unread\":1}"),
            ("an entry without an ID", "{\"Notifications\":[{}],\"Unread\":1}"),
            ("a path as ID", "{\"Notifications\":[{\"Id\":\"../token\",\"Read\":false}],\"Unread\":1}"),
            ("201 entries", "{\"Notifications\":[\(many)],\"Unread\":201}"),
            ("a negative Unread", "{\"Notifications\":[],\"Unread\":-1}"),
            ("an entry that does not exist", "{\"Notifications\":[\(entry(VectorKeys.third))],\"Unread\":1}"),
            ("the same page for ever", "{\"Notifications\":[\(entry(id))],\"Unread\":0,\"Next\":\"\(id)\"}"),
            ("Next without entries", "{\"Notifications\":[],\"Unread\":0,\"Next\":\"\(id)\"}"),
        ]
        return try bodies.map { name, body in try scenario("inbox: \(name)", "inbox", ok(body)) }
    }

    private static func tokens() throws -> [VectorCase] {
        let bodies: [(String, String)] = [
            ("empty", ""), ("an empty object", "{}"), ("an empty token", "{\"access_token\":\"\",\"expires_in\":3600}"),
            ("a number as token", "{\"access_token\":7}"), ("an array", "[]"), ("HTML", "<html></html>"),
        ]
        var cases = try bodies.map { name, body in
            try scenario("token: \(name)", "token", ok(body)) { $0.tokenLifetime = -1_000 }
        }
        cases.append(
            try scenario(
                "token: redirect", "token",
                .response(after: 50, status: 307, headers: [("Location", "https://evil.example/api/token")])
            ) { $0.tokenLifetime = -1_000 })
        // Only the server's own 401 and `invalid_grant` end the session.
        let (json, challenge) = (("Content-Type", "application/json"), "WWW-Authenticate")
        let refusals: [(String, Int, [(String, String)], String)] = [
            ("400 with invalid_grant", 400, [json], "{\"error\":\"invalid_grant\"}"),
            ("400 with invalid_request", 400, [json], "{\"error\":\"invalid_request\"}"),
            ("400 without a body", 400, [], ""), ("401 without a challenge", 401, [], ""),
            ("401 of a proxy with a challenge", 401, [("Content-Type", "text/html"), (challenge, "Bearer")], ""),
            ("401 of a gateway", 401, [json, (challenge, "Bearer")], "{\"message\":\"Unauthorized\"}"),
            ("403 of a proxy", 403, [("Content-Type", "text/html")], "<html></html>"),
            ("407", 407, [("Proxy-Authenticate", "Basic realm=\"proxy\"")], ""),
            ("511", 511, [("Content-Type", "text/html")], "<html></html>"),
            ("201", 201, [json], "{\"access_token\":\"access-9\"}"), ("204", 204, [], ""),
            (
                "200 of a proxy that says it is a token", 200, [("Content-Type", "text/html")],
                "{\"access_token\":\"access-9\"}"
            ),
        ]
        cases += try refusals.map { name, status, headers, body in
            try scenario(
                "token: \(name)", "token", .response(after: 50, status: status, headers: headers, body: body)
            ) { $0.tokenLifetime = -1_000 }
        }
        return cases
    }

    /// Pushes that are not believed cause no request and show nothing; the genuine one still does.
    private static func forgeries() throws -> [VectorCase] {
        let (genuine, stranger) = (try VectorKeys.sign(id), try VectorKeys.sign(id, with: VectorKeys.stranger))
        let old = try VectorKeys.sign(id, at: VectorKeys.date - 29 * 86_400_000)
        let (ts, sig) = (String(genuine.timestamp), genuine.signature)
        let texts: [(String, String, String)] = [
            ("SP-SIGNATURE", String(stranger.timestamp), stranger.signature),
            ("SP-AGE", String(old.timestamp), old.signature),
            ("SP-SIGNATURE", ts, String(repeating: "A", count: 86)), ("SP-SIGNATURE", "1", sig),
            ("SP-SIGNATURE", "-1", sig),
            ("SP-SIGNATURE", "99999999999999999999999999", sig), ("SP-SIGNATURE", ts, "===="), ("SP-SIGNATURE", "", ""),
        ]
        var pushes: [(JSONLiteral, String)] = texts.map { reason, ts, sig in
            (JSONLiteral([("secureId", id), ("ts", ts), ("sig", sig)]), reason)
        }
        pushes.append((JSONLiteral([("secureId", id)]), "SP-SIGNATURE"))
        pushes.append((JSONLiteral([("secureId", "../\(id)"), ("ts", ts), ("sig", sig)]), "SP-SIGNATURE"))
        var scenario = Scenario(name: "forged pushes, then the genuine one", labels: [("stage", "verify")])
        scenario.wakes = pushes.map { Scenario.Wake(kind: .members($0.0, reason: $0.1)) } + [Scenario.Wake()]
        return [try scenario.vectorCase()]
    }
}
