/// What will be broken, when, and for how long: made from a seed before the run, so that a run can be repeated.
public struct FaultPlan: Codable, Sendable, Equatable {
    /// What a plan is made for.
    public struct Request: Codable, Sendable, Equatable {
        public var seed: UInt64
        public var kills: [Target: Int]
        /// How often all data of the broker is deleted.
        public var wipes: Int
        /// How often the hub answers every send with 429.
        public var storms: Int
        /// How often a dispatcher is stopped (SIGSTOP) and goes on later (SIGCONT).
        public var stops: Int
        /// How often a dispatcher is asked to end (SIGTERM).
        public var terms: Int
        /// How often a dispatcher is asked to end (SIGTERM) while the hub takes connections and answers nothing.
        public var silences: Int
        /// How many processes, or nodes, there are of each.
        public var members: [Target: Int]
        public var stormSeconds: Int
        public var stopSeconds: Int

        public init(
            seed: UInt64, kills: [Target: Int] = [:], wipes: Int = 0, storms: Int = 0, stops: Int = 0,
            terms: Int = 0, silences: Int = 0, members: [Target: Int] = [:], stormSeconds: Int = 10,
            stopSeconds: Int = 10
        ) {
            self.seed = seed
            self.kills = kills
            self.wipes = wipes
            self.storms = storms
            self.stops = stops
            self.terms = terms
            self.silences = silences
            self.members = members
            self.stormSeconds = stormSeconds
            self.stopSeconds = stopSeconds
        }
    }

    public enum Target: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
        case rabbitmq, postgres, ingest, dispatcher, retrieval, hub
    }

    public enum Action: String, Codable, Sendable {
        /// SIGKILL; started again after the pause.
        case kill
        /// SIGKILL, and all data deleted; started again after the pause.
        case wipe
        /// SIGSTOP, and SIGCONT after the pause.
        case stop
        /// SIGTERM; started again after the pause.
        case term
        /// The hub takes connections and answers nothing for the length of the pause; SIGTERM meanwhile, and started
        /// again when the hub answers.
        case silence
        /// 429 with `Retry-After` for the length of the pause.
        case storm
    }

    public struct Fault: Codable, Sendable, Equatable, CustomStringConvertible {
        /// When it begins: how many of ten thousand parts of the notifications are accepted by then.
        public var progress: Int
        public var action: Action
        public var target: Target
        /// Which process or node of the target's, from 1.
        public var member: Int
        /// How long it lasts before it is undone, in milliseconds.
        public var pause: Int

        /// `kill dispatcher-2`.
        public var description: String { "\(action.rawValue) \(target.rawValue)-\(member)" }
    }

    public var request: Request
    /// By when they begin.
    public var faults: [Fault]

    /// The faults of one target, which come one after another: the next waits until the last is undone.
    public func lane(_ target: Target) -> [Fault] { faults.filter { $0.target == target } }

    /// The plan as a table for people.
    public var lines: [String] {
        faults.map { fault in
            let (whole, rest) = fault.progress.quotientAndRemainder(dividingBy: 100)
            let tenths = fault.pause / 100
            return "  at \(whole < 10 ? " " : "")\(whole).\(rest < 10 ? "0" : "")\(rest) %  \(fault)"
                + String(repeating: " ", count: max(1, 24 - fault.description.count))
                + "undone after \(tenths / 10).\(tenths % 10) s"
        }
    }
}
