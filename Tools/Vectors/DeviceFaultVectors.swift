/// Wakes in which the device itself fails: its store, its screen, its lock, its clock.
enum DeviceFaultVectors {
    private typealias Wake = Scenario.Wake

    static func cases() throws -> [VectorCase] { try store() + lock() + screen() + clock() + users() + withdrawn() }

    private static func scenario(
        _ name: String, _ fault: String, _ wakes: [Wake], _ adjust: (inout Scenario) -> Void = { _ in }
    ) throws -> VectorCase {
        var scenario = Scenario(
            name: name, labels: [("fault", fault), ("stage", "device"), ("length", "")], wakes: wakes)
        adjust(&scenario)
        return try scenario.vectorCase()
    }

    private static func store() throws -> [VectorCase] {
        var cases: [VectorCase] = []
        for fault in ["store full", "store read-only"] {
            for (length, times) in [("once", Int?.some(1)), ("lasting", nil)] {
                let first = Wake(deviceFaults: [.unwritable(times: times)])
                cases.append(
                    try scenario(
                        "\(fault), \(length)", fault,
                        [first, Wake(pause: 1_000), Wake(kind: .catchUp, pause: 60_000)]))
            }
            let wakes = [Wake(deviceFaults: [.unwritable(times: nil)]), FetchPlanVectors.recovery(false)]
            cases.append(
                try scenario("\(fault) when the token has expired", fault, wakes) { $0.tokenLifetime = -1_000 })
            var refused = wakes
            refused[0].before = { $0.accessTokens = [] }
            cases.append(try scenario("\(fault) when the token is refused", fault, refused))
        }
        let damaged = Wake(kind: .catchUp, pause: 60_000, deviceFaults: [.damaged])
        cases.append(try scenario("store damaged after the secrets were shown", "store corrupt", [Wake(), damaged]))
        var failed = Wake()
        failed.before = {
            $0.fault = { request, _ in
                request.stage == "fetch" || request.stage == "inbox" ? .response(after: 50, status: 404) : nil
            }
        }
        var healed = damaged
        healed.before = { $0.fault = { _, _ in nil } }
        cases.append(try scenario("store damaged while a secret waits", "store corrupt", [failed, healed]))
        return cases
    }

    private static func lock() throws -> [VectorCase] {
        let locked = Wake(deviceFaults: [.locked])
        var again = Wake(kind: .push(id: VectorKeys.missed), pause: 1_000, deviceFaults: [.locked])
        let opened = Wake(kind: .catchUp, pause: 60_000)
        let push = Wake(pause: 1_000)
        let two = try scenario("locked: one notice for two pushes", "locked device", [locked, again, opened, push])
        again.kind = .catchUp
        return [
            try scenario("locked, then unlocked", "locked device", [locked, opened]), two,
            try scenario("locked: no second notice when the app starts", "locked device", [locked, again, opened]),
        ]
    }

    private static func screen() throws -> [VectorCase] {
        let push = Wake(pause: 1_000)
        return [
            try scenario(
                "the screen refuses the first secret", "presenter refuses",
                [Wake(deviceFaults: [.refused(times: 1)]), push]),
            try scenario(
                "the screen refuses two secrets", "presenter refuses",
                [Wake(deviceFaults: [.refused(times: 2)]), push]),
            try scenario(
                "the screen refuses all secrets", "presenter refuses",
                [Wake(deviceFaults: [.refused(times: nil)]), Wake(kind: .catchUp, pause: 60_000), push]),
        ]
    }

    private static func clock() throws -> [VectorCase] {
        let year = 400 * 86_400_000
        let catchUp = Wake(kind: .catchUp, pause: 60_000)
        let (forward, back) = ([Scenario.DeviceFault.clock(jump: year)], [Scenario.DeviceFault.clock(jump: -year)])
        var cases = [
            try scenario("clock forward before the push", "clock forward", [Wake(deviceFaults: forward), catchUp]),
            try scenario(
                "clock forward before the app starts", "clock forward",
                [Wake(), Wake(kind: .catchUp, pause: 60_000, deviceFaults: forward)]),
            try scenario("clock back before the push", "clock back", [Wake(deviceFaults: back), catchUp]),
            try scenario(
                "clock back before a repeated push", "clock back",
                [Wake(), Wake(pause: 1_000, deviceFaults: back)]),
            try scenario(
                "clock forward and back", "clock forward",
                [Wake(deviceFaults: forward), Wake(pause: 1_000, deviceFaults: back), catchUp]),
        ]
        // 31 days later the push is signed anew, and the ID is still known.
        let later = 31 * 86_400_000
        cases.append(
            try scenario(
                "repeated after 31 days", "repeated push",
                [Wake(), Wake(kind: .push(id: VectorKeys.pushed, signedAt: later), pause: later)]))
        return cases
    }

    /// The withdrawal that follows the device's own fetch (`DISPATCH_WITHDRAW=read`).
    private static func withdrawn() throws -> [VectorCase] {
        let year = 400 * 86_400_000
        let faults: [(String, [Scenario.DeviceFault], Bool)] = [
            ("store full", [.unwritable(times: nil)], false), ("presenter refuses", [.refused(times: nil)], true),
            ("clock forward", [.clock(jump: year)], true), ("clock back", [.clock(jump: -year)], true),
        ]
        return try faults.map { fault, deviceFaults, isRestarted in
            let withdrawal = Wake(
                kind: .push(id: VectorKeys.pushed, withdraw: true), pause: 60_000,
                deviceFaults: isRestarted ? [.restarted] : [])
            return try scenario(
                "\(fault), and its own withdrawal", fault,
                [
                    Wake(deviceFaults: deviceFaults), withdrawal, Wake(kind: .catchUp, pause: 60_000),
                    Wake(pause: 1_000),
                ])
        }
    }

    private static func users() throws -> [VectorCase] {
        let logIn = Wake(kind: .logIn, pause: 60_000)
        var cases = [
            try scenario("repeated at once", "repeated push", [Wake(), Wake(), Wake(pause: 60_000)]),
            try scenario("nobody has ever logged in: a push without a signature", "logged out", [Wake()]) {
                ($0.isLoggedIn, $0.isSigned, $0.user) = (false, false, nil)
            },
            try scenario("nobody has ever logged in: a signed push", "logged out", [Wake()]) {
                ($0.isLoggedIn, $0.user) = (false, nil)
            },
            try scenario("an expired token without a refresh token", "logged out", [Wake(), logIn]) {
                ($0.tokenLifetime, $0.hasRefreshToken) = (-1_000, false)
            },
            try scenario("a token without an end", "none", [Wake()]) { $0.tokenLifetime = nil },
            try scenario("a token that ends in 30 s", "none", [Wake()]) { $0.tokenLifetime = 30_000 },
            try scenario("a token that ends in 31 s", "none", [Wake()]) { $0.tokenLifetime = 31_000 },
        ]
        let ended = Wake(before: { $0.endSessions() })
        let second = Wake(kind: .push(id: VectorKeys.missed), pause: 1_000)
        cases += [
            try scenario(
                "logged out: one prompt for a repeated push", "logged out", [ended, Wake(pause: 1_000), logIn]),
            try scenario("logged out: a prompt with two notifications", "logged out", [ended, second, logIn]),
            try scenario(
                "logged out: the app starts before the log-in", "logged out",
                [ended, Wake(kind: .catchUp, pause: 1_000), logIn, Wake(pause: 1_000)]),
        ]
        return cases
    }
}
