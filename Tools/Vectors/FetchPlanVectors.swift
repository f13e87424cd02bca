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

    static func cases() throws -> [VectorCase] {
        var cases = [try Scenario(name: "no fault", wakes: [.init(), recovery(false)]).vectorCase()]
        for fault in NetworkFault.allCases {
            for stage in Stage.allCases {
                for isLasting in [false, true] { cases.append(try network(fault, stage, isLasting)) }
            }
        }
        return try cases + DeviceFaultVectors.cases() + PlanVectors.cases()
    }

    /// A minute later, when everything works again.
    static func recovery(_ needsLogIn: Bool) -> Scenario.Wake {
        Scenario.Wake(kind: needsLogIn ? .logIn : .catchUp, pause: 60_000)
    }

    private static func network(_ fault: NetworkFault, _ stage: Stage, _ isLasting: Bool) throws -> VectorCase {
        let length = isLasting ? "lasting" : "once"
        func scenario(needsLogIn: Bool, needsLogInAgain: Bool) throws -> (VectorCase, DeviceModel) {
            let server = ServerModel()
            let strikes = Strikes(fault, stage.first, isLasting)
            var scenario = Scenario(
                name: "\(fault.name) at \(stage), \(length)",
                labels: [("fault", fault.name), ("stage", stage.rawValue), ("length", length)])
            scenario.tokenLifetime = stage == .token ? -1_000 : 3_600_000
            var first = Scenario.Wake()
            if stage == .resume {
                first.before = { $0.endSessions() }
                scenario.wakes = [first, .init(kind: .logIn, pause: 60_000, before: { $0.fault = strikes.answer })]
            } else {
                first.before = {
                    if stage == .refresh { $0.accessTokens = [] }
                    $0.fault = strikes.answer
                }
                scenario.wakes = [first]
            }
            var last = recovery(needsLogIn)
            last.before = { $0.fault = { _, _ in nil } }
            scenario.wakes.append(last)
            if needsLogInAgain { scenario.wakes.append(recovery(true)) }
            return try scenario.run(server)
        }
        // The user is asked to log in only if the device asks for it.
        var (result, device) = try scenario(needsLogIn: false, needsLogInAgain: false)
        if device.tokens == nil || device.isPromptOnScreen {
            (result, device) = try scenario(needsLogIn: true, needsLogInAgain: false)
        }
        return result
    }

    /// Decides which requests of a wake fail: from the first at the stage on, either one or all.
    private final class Strikes {
        private let fault: NetworkFault
        private let stage: String
        private let isLasting: Bool
        private var count = 0

        init(_ fault: NetworkFault, _ stage: String, _ isLasting: Bool) {
            (self.fault, self.stage, self.isLasting) = (fault, stage, isLasting)
        }

        func answer(_ request: ServerModel.Request, _ good: ServerModel.Answer) -> ServerModel.Answer? {
            // The log-in itself succeeds.
            if request.path == "/api/token", request.body.isEmpty { return nil }
            guard request.stage == stage || (isLasting && count > 0), isLasting || count == 0 else { return nil }
            count += 1
            return fault.answer(to: request, good)
        }
    }
}
