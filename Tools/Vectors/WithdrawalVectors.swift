import SecurePushCore

/// Pushes and withdrawals in every order.
enum WithdrawalVectors {
    private typealias Wake = Scenario.Wake

    static func cases() throws -> [VectorCase] { try shown() + waiting() + lost() + closed() + early() + refused() }

    private static func withdrawal(
        _ id: String = VectorKeys.pushed, pause: Int = 1_000, before: @escaping (ServerModel) -> Void = { _ in }
    ) -> Scenario.Wake {
        Scenario.Wake(kind: .push(id: id, withdraw: true), pause: pause, before: before)
    }

    private static func revoke(_ server: ServerModel) {
        for index in server.items.indices where server.items[index].id == VectorKeys.pushed {
            server.items[index].isRevoked = true
        }
    }

    private static func scenario(
        _ name: String, _ wakes: [Scenario.Wake], _ adjust: (inout Scenario) -> Void = { _ in }
    ) throws -> VectorCase {
        var scenario = Scenario(name: name, wakes: wakes)
        scenario.items.removeFirst()
        adjust(&scenario)
        return try scenario.vectorCase()
    }

    private static func readElsewhere(_ scenario: inout Scenario) { scenario.items[0].isRead = true }

    /// After the secret was shown.
    private static func shown() throws -> [VectorCase] {
        let again = Wake(pause: 1_000)
        let down: (ServerModel) -> Void = { server in
            server.fault = { request, _ in request.stage == "question" ? .response(after: 50, status: 503) : nil }
        }
        let up: (ServerModel) -> Void = { $0.fault = { _, _ in nil } }
        return [
            try scenario("another device was the first to read it", [Wake(), withdrawal()], readElsewhere),
            try scenario(
                "another device was the first, and the push is repeated", [Wake(), withdrawal(), again], readElsewhere),
            try scenario("this device was the first: it stays", [Wake(), withdrawal(), again]),
            try scenario("this device was the first: revoked", [Wake(), withdrawal(before: revoke), again]),
            try scenario(
                "this device was the first: unknown now", [Wake(), withdrawal(before: { $0.items = [] }), again]),
            try scenario(
                "this device was the first: the question fails, and is asked again",
                [
                    Wake(), withdrawal(before: down),
                    Wake(
                        kind: .catchUp, pause: 60_000,
                        before: { server in
                            revoke(server)
                            up(server)
                        }),
                ]),
            try scenario("withdrawn twice", [Wake(), withdrawal(), withdrawal()], readElsewhere),
            try scenario(
                "the first answer was lost: it counts as the first reader",
                [
                    Wake(before: { server in
                        var tries = 0
                        server.fault = { request, _ in
                            guard request.stage == "fetch" else { return nil }
                            tries += 1
                            return tries == 1 ? .hangs : nil
                        }
                    }), withdrawal(),
                ]),
            try scenario(
                "one of two is withdrawn", [Wake(), withdrawal(VectorKeys.missed)],
                { $0.items.insert(ServerModel.Item(VectorKeys.missed, "\"missed secret\"", isRead: true), at: 0) }),
        ]
    }

    /// While it waits, with a generic text or a prompt.
    private static func waiting() throws -> [VectorCase] {
        let down: (ServerModel) -> Void = { $0.fault = { _, _ in .response(after: 50, status: 503) } }
        let up: (ServerModel) -> Void = { server in
            server.fault = { _, _ in nil }
            revoke(server)
        }
        let ended: (ServerModel) -> Void = { $0.endSessions() }
        let both: (inout Scenario) -> Void = {
            $0.items.insert(ServerModel.Item(VectorKeys.missed, "\"missed secret\""), at: 0)
        }
        let logIn = Wake(kind: .logIn, pause: 60_000, before: revoke)
        return [
            try scenario(
                "a generic text is removed", [Wake(before: down), withdrawal(before: up), Wake(pause: 1_000)]),
            try scenario(
                "the prompt goes with the last that waits", [Wake(before: ended), withdrawal(before: revoke), logIn]),
            try scenario(
                "the prompt stays for another one",
                [
                    Wake(before: ended), Wake(kind: .push(id: VectorKeys.missed), pause: 1_000),
                    withdrawal(before: revoke), logIn,
                ], both),
            try scenario(
                "revoked while it waits: 410", [Wake(before: down), Wake(kind: .catchUp, pause: 60_000, before: up)]),
        ]
    }

    /// After a fetch without a clear answer: the server may have marked it as read, and have withdrawn it therefore.
    private static func lost() throws -> [VectorCase] {
        func fetches(_ answer: ServerModel.Answer) -> (ServerModel) -> Void {
            { $0.fault = { request, _ in request.stage == "fetch" ? answer : nil } }
        }
        let heal: (ServerModel) -> Void = { $0.fault = { _, _ in nil } }
        let half = ServerModel.Answer.response(after: 50, status: 200, body: "{\"Id\":")
        let answers: [(String, ServerModel.Answer)] = [
            ("no answer", .hangs), ("a broken connection", .error(after: 50, "unreachable")),
            ("408", .response(after: 50, status: 408)), ("504", .response(after: 50, status: 504)),
            ("half an answer", half), ("a long answer", .bytes(after: 50, status: 200, count: 3 << 20)),
        ]
        var cases: [VectorCase] = []
        for (name, answer) in answers {
            var second = withdrawal(before: heal)
            second.deviceFaults = [.restarted]
            cases.append(try scenario("after \(name): it is still fetched", [Wake(before: fetches(answer)), second]))
        }
        // The server has surely not marked it: another device has read it.
        let refusals: [(String, ServerModel.Answer)] = [
            ("404", .response(after: 50, status: 404)), ("403", .response(after: 50, status: 403)),
            ("429", .response(after: 50, status: 429, headers: [("Retry-After", "3600")])),
            ("302", .response(after: 50, status: 302, headers: [("Location", "https://push.example.com/")])),
        ]
        let elsewhere: (ServerModel) -> Void = { server in
            heal(server)
            server.items[0].isRead = true
        }
        for (name, answer) in refusals {
            cases.append(
                try scenario(
                    "after \(name): it is removed", [Wake(before: fetches(answer)), withdrawal(before: elsewhere)]))
        }
        return try cases + [
            try scenario(
                "after no answer: it was revoked",
                [
                    Wake(before: fetches(.hangs)),
                    withdrawal(before: { server in
                        heal(server)
                        revoke(server)
                    }), Wake(pause: 1_000),
                ])
        ] + unsure()
    }

    /// An envelope for other devices: the generic text is all that this device shows.
    private static func closed() throws -> [VectorCase] {
        let sealed: (inout Scenario) -> Void = {
            $0.items[0].payload =
                "{\"ct\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"e2e\":1,\"iv\":\"AAAAAAAAAAAAAAAA\",\"keys\":{}}"
        }
        let again = Wake(pause: 1_000)
        return [
            try scenario("an envelope that this device was the first to read", [Wake(), withdrawal(), again], sealed),
            try scenario(
                "an envelope that this device was the first to read: revoked",
                [Wake(), withdrawal(before: revoke), again], sealed),
            try scenario("an envelope that another device has read", [Wake(), withdrawal(), again]) {
                sealed(&$0)
                readElsewhere(&$0)
            },
            try scenario(
                "an envelope after no answer",
                [
                    Wake(before: { server in
                        var tries = 0
                        server.fault = { request, _ in
                            guard request.stage == "fetch" else { return nil }
                            tries += 1
                            return tries == 1 ? .hangs : nil
                        }
                    }), withdrawal(), again,
                ], sealed),
        ]
    }

    /// The question has no answer, so the next fetch, or the next wake, asks again.
    private static func unsure() throws -> [VectorCase] {
        func failing(_ stages: [String]) -> (ServerModel) -> Void {
            { server in
                server.fault = { request, _ in
                    stages.contains(request.stage) ? .response(after: 50, status: 504) : nil
                }
            }
        }
        let catchUp = Wake(kind: .catchUp, pause: 60_000)
        let two: (inout Scenario) -> Void = {
            $0.items.insert(ServerModel.Item(VectorKeys.missed, "\"missed secret\""), at: 0)
        }
        func lostPage(_ server: ServerModel) {
            var pages = 0
            server.fault = { request, _ in
                guard request.query.contains(where: { $0 == ("include", "payload") }) else { return nil }
                pages += 1
                return pages == 1 ? .hangs : nil
            }
        }
        return [
            try scenario(
                "after no answer: the fetch says that it was revoked",
                [
                    Wake(before: failing(["fetch"])), withdrawal(before: failing(["fetch", "question"])),
                    Wake(
                        kind: .catchUp, pause: 60_000,
                        before: { server in
                            failing(["question"])(server)
                            revoke(server)
                        }), catchUp,
                ]),
            try scenario(
                "after no answer: the question is asked again",
                [
                    Wake(before: failing(["fetch"])), withdrawal(before: failing(["fetch", "question"])),
                    Wake(kind: .catchUp, pause: 60_000, before: failing([])), catchUp,
                ]),
            try scenario(
                "after a page whose first answer was lost",
                [
                    Wake(kind: .catchUp, before: lostPage), withdrawal(before: failing([])),
                    withdrawal(VectorKeys.missed), catchUp,
                ], two),
            try scenario(
                "after a page without an answer",
                [
                    Wake(kind: .catchUp, before: failing(["inbox"])), withdrawal(before: failing([])),
                    withdrawal(VectorKeys.missed), catchUp,
                ], two),
        ]
    }

    /// Before the push.
    private static func early() throws -> [VectorCase] {
        [
            try scenario("before its push", [withdrawal(), Wake(pause: 1_000)], readElsewhere),
            try scenario("before its push, and revoked", [withdrawal(before: revoke), Wake(pause: 1_000)]),
            try scenario("of an unknown notification", [withdrawal(VectorKeys.third)]),
            try scenario("in the inbox, but withdrawn here", [withdrawal(), Wake(kind: .catchUp, pause: 1_000)]),
            try scenario("before the device has a user", [withdrawal()]) {
                ($0.isLoggedIn, $0.user) = (false, nil)
            },
            try scenario("without signatures", [Wake(), withdrawal()]) {
                $0.isSigned = false
                $0.items[0].isRead = true
            },
        ]
    }

    /// Withdrawals that are not believed.
    private static func refused() throws -> [VectorCase] {
        let push = try VectorKeys.sign(VectorKeys.pushed)
        let forged = try VectorKeys.sign(VectorKeys.pushed, withdraw: true, with: VectorKeys.stranger)
        let bob = try VectorKeys.sign(VectorKeys.pushed, user: "bob", withdraw: true)
        let old = try VectorKeys.sign(VectorKeys.pushed, at: VectorKeys.date - 29 * 86_400_000, withdraw: true)
        func wake(_ ts: Int64?, _ sig: String?, _ reason: String) -> Wake {
            var members: [(String, String)] = [("secureId", VectorKeys.pushed), ("withdraw", "1")]
            if let ts { members.append(("ts", String(ts))) }
            if let sig { members.append(("sig", sig)) }
            return Wake(kind: .members(JSONLiteral(members), reason: reason), pause: 1_000)
        }
        return [
            try scenario(
                "not believed: no signature, another key, another user, the push's signature, too old",
                [
                    Wake(), wake(nil, nil, "SP-SIGNATURE"), wake(forged.timestamp, forged.signature, "SP-SIGNATURE"),
                    wake(bob.timestamp, bob.signature, "SP-SIGNATURE"),
                    wake(push.timestamp, push.signature, "SP-SIGNATURE"), wake(old.timestamp, old.signature, "SP-AGE"),
                    Wake(pause: 1_000),
                ], readElsewhere)
        ]
    }
}
