/// Wakes in which something goes wrong.
enum FetchPlanVectors {
    /// Where it begins to go wrong.
    private enum Stage: String, CaseIterable {
        /// The first fetch. The stages parse, verify and store of the Swift table come before it, and are the same to
        /// the network.
        case fetch
        /// The access token has expired.
        case token
        /// The server refuses the access token.
        case refresh
        /// The inbox, after the secret is on the screen (present).
        case inbox
        /// The notification that the inbox has beside the pushed one.
        case missed
        /// The report that a secret was shown.
        case markShown
        /// The keys for pushes, at the end of the wake.
        case keys
        /// The wake after a log-in.
        case resume

        /// The stage of the request that fails first.
        var first: String {
            switch self {
            case .refresh: "token"
            case .resume: "inbox"
            default: rawValue
            }
        }
    }

    /// The events after the fault has ended, a minute later.
    private enum Way: String, CaseIterable {
        /// The app starts.
        case silent
        /// With `DISPATCH_WITHDRAW=read` the server withdraws what it has marked as read, and then the app starts.
        case echo
    }

    static func cases() throws -> [VectorCase] {
        var cases = try Way.allCases.map { try network(nil, .fetch, $0, false) }
        for fault in NetworkFault.allCases {
            for stage in Stage.allCases {
                for way in Way.allCases {
                    for isLasting in [false, true] { cases.append(try network(fault, stage, way, isLasting)) }
                }
            }
        }
        return try cases + DeviceFaultVectors.cases() + PlanVectors.cases() + PushKeyVectors.cases()
    }

    /// A minute later, when everything works again.
    static func recovery(_ needsLogIn: Bool) -> Scenario.Wake {
        Scenario.Wake(kind: needsLogIn ? .logIn : .catchUp, pause: 60_000)
    }

    private static func network(
        _ fault: NetworkFault?, _ stage: Stage, _ way: Way, _ isLasting: Bool
    ) throws -> VectorCase {
        let (failing, server) = (failing(fault, stage, way, isLasting), ServerModel())
        _ = try failing.run(server)
        let read = way == .echo ? server.items.filter(\.isRead).map(\.id) : []
        func scenario(needsLogIn: Bool) throws -> (VectorCase, DeviceModel) {
            var scenario = failing
            scenario.wakes += withdrawals(of: read) + [recovery(needsLogIn)]
            scenario.wakes[failing.wakes.count].before = { $0.fault = { _, _ in nil } }
            return try scenario.run(ServerModel())
        }
        // The user is asked to log in only if the device asks for it.
        let (result, device) = try scenario(needsLogIn: false)
        return device.tokens == nil || device.isPromptOnScreen ? try scenario(needsLogIn: true).0 : result
    }

    /// The wakes until everything works again.
    private static func failing(
        _ fault: NetworkFault?, _ stage: Stage, _ way: Way, _ isLasting: Bool
    ) -> Scenario {
        let length = isLasting ? "lasting" : "once"
        let name = fault.map { "\($0.name) at \(stage), \(length)" } ?? "no fault"
        var scenario = Scenario(name: way == .silent ? name : "\(name), \(way)")
        if let fault {
            scenario.labels = [
                ("fault", fault.name), ("stage", stage.rawValue), ("length", length), ("way", way.rawValue),
            ]
        }
        scenario.tokenLifetime = stage == .token ? -1_000 : 3_600_000
        // Each run counts anew.
        let fail: (ServerModel) -> Void = { $0.fault = Strikes(fault, stage.first, isLasting).answer }
        if stage == .resume {
            scenario.wakes = [
                .init(before: { $0.endSessions() }), .init(kind: .logIn, pause: 60_000, before: fail),
            ]
        } else {
            scenario.wakes = [
                .init(before: { server in
                    if stage == .refresh { server.accessTokens = [] }
                    fail(server)
                })
            ]
        }
        return scenario
    }

    /// The process has ended in the meantime. Its store has the requests that it has sent.
    private static func withdrawals(of ids: [String]) -> [Scenario.Wake] {
        ids.enumerated().map { number, id in
            Scenario.Wake(
                kind: .push(id: id, withdraw: true), pause: number == 0 ? 60_000 : 1_000,
                deviceFaults: number == 0 ? [.restarted] : [])
        }
    }

    /// Decides which requests of a wake fail: from the first at the stage on, either one or all.
    private final class Strikes {
        private let fault: NetworkFault?
        private let stage: String
        private let isLasting: Bool
        private var count = 0

        init(_ fault: NetworkFault?, _ stage: String, _ isLasting: Bool) {
            (self.fault, self.stage, self.isLasting) = (fault, stage, isLasting)
        }

        func answer(_ request: ServerModel.Request, _ good: ServerModel.Answer) -> ServerModel.Answer? {
            // The log-in itself succeeds.
            if request.path == "/api/token", request.body.isEmpty { return nil }
            guard let fault, request.stage == stage || (isLasting && count > 0), isLasting || count == 0 else {
                return nil
            }
            count += 1
            return fault.answer(to: request, good)
        }
    }
}
