import SecurePushCore

/// The fetch plan itself: waits, time-outs, `Retry-After`, and many notifications.
enum PlanVectors {
    static func cases() throws -> [VectorCase] { try answers() + retryAfter() + inboxes() }

    private static func scenario(
        _ name: String, _ wakes: [Scenario.Wake] = [Scenario.Wake()], _ adjust: (inout Scenario) -> Void = { _ in },
        fault: @escaping (ServerModel.Request, Int) -> ServerModel.Answer?
    ) throws -> VectorCase {
        var scenario = Scenario(
            name: name, labels: [("fault", "plan"), ("stage", "fetch"), ("length", "")], wakes: wakes)
        adjust(&scenario)
        let server = ServerModel()
        var tries = 0
        server.fault = { request, _ in
            guard request.stage == "fetch" else { return nil }
            tries += 1
            return fault(request, tries)
        }
        return try scenario.vectorCase(server)
    }

    private static func answers() throws -> [VectorCase] {
        func failing(_ count: Int, _ answer: ServerModel.Answer) -> (ServerModel.Request, Int) -> ServerModel.Answer? {
            { _, number in number <= count ? answer : nil }
        }
        func answer(_ status: Int) -> ServerModel.Answer {
            status == 401 ? .unauthorized(after: 50) : .response(after: 50, status: status)
        }
        let busy = ServerModel.Answer.response(after: 50, status: 503)
        let slow = ServerModel.Answer.response(after: 7_999, status: 503)
        var cases: [VectorCase] = []
        for count in 1...5 { cases.append(try scenario("503, \(count) times", fault: failing(count, busy))) }
        cases += [
            try scenario("time-out once", fault: failing(1, .hangs)),
            try scenario("time-out twice", fault: failing(2, .hangs)),
            try scenario("503 after 7,999 ms, three times", fault: failing(3, slow)),
            try scenario("503 after 8,000 ms is a time-out", fault: failing(1, .response(after: 8_000, status: 503))),
            try scenario("408, 429 and 500 in turn") { _, number in
                number <= 3 ? .response(after: 50, status: [408, 429, 500][number - 1]) : nil
            },
            try scenario("offline, then 403") { _, number in
                number == 1 ? .error(after: 50, "unreachable") : .response(after: 50, status: 403)
            },
            try scenario("503, 401, 503") { _, number in
                number <= 3 ? answer([503, 401, 503][number - 1]) : nil
            },
            try scenario("401, 503, 401") { _, number in
                number <= 3 ? answer([401, 503, 401][number - 1]) : nil
            },
        ]
        for status in [
            204, 206, 300, 301, 304, 307, 308, 400, 405, 406, 409, 418, 421, 425, 451, 499, 501, 502, 504, 599,
        ] {
            cases.append(
                try scenario("\(status)", fault: failing(1, .response(after: 50, status: status))))
        }
        return cases
    }

    private static func retryAfter() throws -> [VectorCase] {
        var cases: [VectorCase] = []
        for value in [
            "0", "1", "2", "10", "24", "25", "3600", "4294967295", "4294967296", "-1", "1.5", "soon", "",
            "99999999999999999999",
            // The scenario begins at 8:00:00.
            "Fri, 15 Jan 2027 08:00:05 GMT", "Fri, 15 Jan 2027 08:00:24 GMT", "Fri, 15 Jan 2027 08:00:25 GMT",
            "Fri, 15 Jan 2027 08:00:60 GMT", "Mon, 15 Jan 2027 08:00:05 GMT", "Fri, 15 Jan 2027 07:59:00 GMT",
            "Thu, 29 Feb 2024 08:00:05 GMT", "Tue, 29 Feb 2028 08:00:05 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
            // No dates, or in the obsolete forms.
            "Mon, 29 Feb 2027 08:00:05 GMT", "Fri, 32 Jan 2027 08:00:05 GMT", "Fri, 00 Jan 2028 08:00:05 GMT",
            "Fri, 15 Jan 2028 24:00:05 GMT", "Fri, 15 Jan 2028 08:60:05 GMT", "Fri, 15 Jan 2028 08:00:61 GMT",
            "fri, 15 Jan 2028 08:00:05 GMT", "Fri, 15 jan 2028 08:00:05 GMT", "Fri, 15 Jan 2028 08:00:05 gmt",
            "Fri, 15 Jan 2028 08:00:05 UTC", "Fri, 15 Jan 2028 08:00:05 +0000", "Fri, 15 Jan 2028 08:00:05",
            "Fri,  5 Jan 2028 08:00:05 GMT", "Fri, 5 Jan 2028 08:00:05 GMT", "Fri 15 Jan 2028 08:00:05 GMT",
            "Saturday, 15-Jan-28 08:00:05 GMT", "Sat Jan 15 08:00:05 2028", "2028-01-15T08:00:05Z",
        ] {
            cases.append(
                try scenario("Retry-After \(value.isEmpty ? "empty" : value)") { _, number in
                    number == 1 ? .response(after: 50, status: 429, headers: [("Retry-After", value)]) : nil
                })
        }
        let slow = [Scenario.Wake(deviceFaults: [.clock(jump: -3_600_000)])]
        cases.append(
            try scenario("Retry-After is a date, and the clock is an hour slow", slow) { _, number in
                number == 1
                    ? .response(
                        after: 50, status: 503, headers: [("Retry-After", "Fri, 15 Jan 2027 08:00:05 GMT")]) : nil
            })
        cases.append(
            try scenario("Retry-After of 503 leaves 499 ms") { _, number in
                number == 1 ? .response(after: 501, status: 503, headers: [("Retry-After", "24")]) : nil
            })
        cases.append(
            try scenario("Retry-After of 503 leaves 500 ms") { _, number in
                number == 1 ? .response(after: 500, status: 503, headers: [("Retry-After", "24")]) : nil
            })
        return cases
    }

    private static func inboxes() throws -> [VectorCase] {
        func items(_ count: Int) -> [ServerModel.Item] {
            (1...count).map { number in
                let digits = String(number)
                let id = "019aa4a2-1c9b-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
                return ServerModel.Item(id, "\"secret \(number)\"")
            }
        }
        let catchUp = Scenario.Wake(kind: .catchUp, pause: 60_000)
        func none(_ request: ServerModel.Request, _ number: Int) -> ServerModel.Answer? { nil }
        var cases: [VectorCase] = []
        for count in [1, 3, 21] {
            cases.append(try scenario("\(count) in the inbox", { $0.items = items(count) }, fault: none))
        }
        cases += [
            try scenario("an empty inbox", [catchUp], { $0.items = [] }, fault: none),
            try scenario("the app starts with two in the inbox", [catchUp, catchUp], fault: none),
            try scenario(
                "a newer one between two wakes",
                [
                    Scenario.Wake(),
                    Scenario.Wake(
                        kind: .catchUp, pause: 1_000,
                        before: {
                            $0.items.append(ServerModel.Item(VectorKeys.third, "\"third\""))
                        }),
                ], fault: none),
            // NotBefore: its ID is older than the last one seen.
            try scenario(
                "an older one between two wakes",
                [
                    Scenario.Wake(),
                    Scenario.Wake(
                        kind: .catchUp, pause: 1_000,
                        before: {
                            $0.items.insert(
                                ServerModel.Item("019aa4a2-1c9b-7000-8000-000000000000", "\"delayed\""), at: 0)
                        }),
                ], { $0.items.removeFirst() }, fault: none),
            try scenario("read on another device", { $0.items[1].isRead = true }, fault: none),
        ]
        for (name, json) in [
            ("an object", #"{"a":[1,"b",null,true]}"#), ("a number", "42"), ("null", "null"), ("an empty text", "\"\""),
            ("a text with escapes", #""a\n\"b\" \u00e9 \ud83d\udd11""#),
        ] {
            cases.append(try scenario("the payload is \(name)", { $0.items[1].payload = json }, fault: none))
        }
        // The generic text, once; both are final.
        for (name, json) in [
            ("for other devices", #"{"ct":"AAAAAAAAAAAAAAAAAAAAAA","e2e":1,"iv":"AAAAAAAAAAAAAAAA","keys":{}}"#),
            ("of another version", #"{"ct":"AAAAAAAAAAAAAAAAAAAAAA","e2e":2,"iv":"AAAAAAAAAAAAAAAA","keys":{}}"#),
        ] {
            let wakes = [Scenario.Wake(), catchUp, Scenario.Wake(pause: 1_000)]
            cases.append(
                try scenario("the payload is an envelope \(name)", wakes, { $0.items[1].payload = json }, fault: none))
            cases.append(
                try scenario(
                    "the payloads of a page are envelopes \(name)", [catchUp, Scenario.Wake(pause: 1_000)],
                    { for index in 0..<2 { $0.items[index].payload = json } }, fault: none))
        }
        return cases
    }

    private static func scenario(
        _ name: String, _ adjust: (inout Scenario) -> Void,
        fault: @escaping (ServerModel.Request, Int) -> ServerModel.Answer?
    ) throws -> VectorCase {
        try scenario(name, [Scenario.Wake()], adjust, fault: fault)
    }
}
