import SecurePushCore

/// The keys for pushes: the times at which they are read, and the effects.
enum PushKeyVectors {
    private typealias Wake = Scenario.Wake

    static func cases() throws -> [VectorCase] { try times() + rotations() + unusable() + sizes() }

    private static func scenario(
        _ name: String, _ wakes: [Wake], _ adjust: (inout Scenario) -> Void = { _ in }
    ) throws -> VectorCase {
        var scenario = Scenario(
            name: "keys: \(name)", labels: [("fault", "push keys"), ("stage", "keys"), ("length", "")], wakes: wakes)
        scenario.tokenLifetime = nil
        scenario.items.append(ServerModel.Item(VectorKeys.third, "\"third secret\""))
        scenario.items.removeFirst()
        adjust(&scenario)
        return try scenario.vectorCase()
    }

    /// Another push, a second later. The third notification is in the inbox of the first wake already, so this shows
    /// whether the push is believed, and not the secret.
    private static func second(_ seed: String = VectorKeys.current, _ faults: [Scenario.DeviceFault] = []) -> Wake {
        Wake(kind: .push(id: VectorKeys.third, by: seed), pause: 1_000, deviceFaults: faults)
    }

    private static func answering(_ answer: ServerModel.Answer?) -> (ServerModel) -> Void {
        { $0.fault = { request, _ in request.stage == "keys" ? answer : nil } }
    }

    private static func times() throws -> [VectorCase] {
        func catchUp(_ pause: Int, _ faults: [Scenario.DeviceFault] = []) -> Wake {
            Wake(kind: .catchUp, pause: pause, deviceFaults: faults)
        }
        func slow(_ milliseconds: Int) throws -> ServerModel.Answer {
            let keys = try VectorKeys.jwks([VectorKeys.former]).value.json
            return .response(after: milliseconds, status: 200, body: keys)
        }
        return [
            try scenario("not again within the hour", [Wake(), catchUp(1_000), catchUp(3_590_000)]),
            try scenario("again after an hour", [Wake(), catchUp(3_600_000), catchUp(1_000)]),
            try scenario(
                "again after the clock went back",
                [Wake(), catchUp(1_000, [.clock(jump: -86_400_000)]), catchUp(1_000)]),
            try scenario("kept when the process starts again", [Wake(), second(VectorKeys.current, [.restarted])]),
            try scenario(
                "asked for again after a failure",
                [
                    Wake(before: answering(.error(after: 50, "unreachable"))), second(),
                    Wake(kind: .catchUp, pause: 1_000, before: answering(nil)), catchUp(1_000),
                ]),
            try scenario("an answer after 4.9 s counts", [Wake(before: answering(try slow(4_900))), second()]),
            try scenario("an answer after 5.1 s does not", [Wake(before: answering(try slow(5_100))), second()]),
            try scenario("after a withdrawal", [Wake(kind: .push(id: VectorKeys.pushed, withdraw: true))]),
            try scenario("not after a push that is not believed", [second(VectorKeys.stranger), Wake()]),
            try scenario("not asked for without configured keys", [Wake(), second()]) { $0.isSigned = false },
        ]
    }

    private static func rotations() throws -> [VectorCase] {
        let (current, former) = (VectorKeys.current, VectorKeys.former)
        return [
            try scenario("the next one is learned before it signs", [Wake(), second(former), second(current)]) {
                $0.publishedKeys = [current, former]
            },
            try scenario("a removed one is refused", [Wake(), second(current), second(former)]) {
                $0.publishedKeys = [former]
            },
            try scenario(
                "a removed one is refused after a start of the process",
                [Wake(), second(current, [.restarted]), second(former)]
            ) { $0.publishedKeys = [former] },
            try scenario(
                "a damaged store begins with the configured ones",
                [Wake(), second(former, [.damaged]), second(current), second(former)]
            ) { $0.publishedKeys = [former] },
            try scenario(
                "a store that cannot be written keeps them in memory",
                [Wake(deviceFaults: [.unwritable(times: nil)]), second(current), second(former)]
            ) { $0.publishedKeys = [former] },
        ]
    }

    private static func unusable() throws -> [VectorCase] {
        let sets = try SignatureVectors.unusableSets().map { ($0, $1.value.json) }
        let bodies = [("half a set", "{\"keys\":[{\"kty\":\"OKP\""), ("an array", "[]"), ("no JSON", "OK")]
        return try (sets + bodies).map { name, body in
            try scenario(
                "not changed by \(name)",
                [Wake(before: answering(.response(after: 50, status: 200, body: body))), second(), second()])
        }
    }

    private static func sizes() throws -> [VectorCase] {
        try [32, 33].map { count in
            let keys = VectorKeys.others(count - 1) + [VectorKeys.former]
            return try scenario("the last of \(count)", [Wake(), second(VectorKeys.former)]) { $0.publishedKeys = keys }
        }
    }
}
