import StackKit

/// The faults of a run with their times and durations. It is made from a seed before the run, so that a run can be
/// repeated.
package struct FaultPlan: Codable, Sendable, Equatable {
    /// The numbers and targets that a plan has to have.
    package struct Request: Codable, Sendable, Equatable {
        package var seed: UInt64
        package var kills: [Target: Int]
        /// How often all data of the broker is deleted.
        package var wipes: Int
        /// How often the hub answers every send with 429.
        package var storms: Int
        /// How often a dispatcher is stopped (SIGSTOP) and goes on later (SIGCONT).
        package var stops: Int
        /// How often a dispatcher is asked to end (SIGTERM).
        package var terms: Int
        /// How often a dispatcher is asked to end (SIGTERM) while the hub takes connections and answers nothing.
        package var silences: Int
        /// How often the database is read-only for a while.
        package var readOnlies: Int
        /// How often the dispatch queue's binding is removed.
        package var unbinds: Int
        /// How often the retry queues are deleted.
        package var removals: Int
        /// How often nobody reads the logs of the services for a while.
        package var unreads: Int
        /// How many processes, or nodes, there are of each.
        package var members: [Target: Int]
        package var stormSeconds: Int
        package var stopSeconds: Int
        package var unreadSeconds: Int

        package init(
            seed: UInt64, kills: [Target: Int] = [:], wipes: Int = 0, storms: Int = 0, stops: Int = 0,
            terms: Int = 0, silences: Int = 0, unbinds: Int = 0, removals: Int = 0, readOnlies: Int = 0,
            unreads: Int = 0, members: [Target: Int] = [:], stormSeconds: Int = 10, stopSeconds: Int = 10,
            unreadSeconds: Int = 20
        ) {
            self.seed = seed
            self.kills = kills
            self.wipes = wipes
            self.storms = storms
            self.stops = stops
            self.terms = terms
            self.silences = silences
            self.readOnlies = readOnlies
            self.unbinds = unbinds
            self.removals = removals
            self.unreads = unreads
            self.members = members
            self.stormSeconds = stormSeconds
            self.stopSeconds = stopSeconds
            self.unreadSeconds = unreadSeconds
        }
    }

    package enum Target: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
        case rabbitmq, postgres, ingest, dispatcher, retrieval, hub, logs
        /// A process of the service `hub`; ``hub`` is the answers that pushes get.
        case hubProcess = "hub-process"
    }

    package enum Action: String, Codable, Sendable {
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
        /// The database accepts no changes for the length of the pause, and its sessions end at the beginning.
        case readOnly = "read-only"
        /// The dispatch queue's binding is removed. Nobody undoes that but the services.
        case unbind
        /// The retry queues are deleted with their messages. Nobody undoes that but the services.
        case remove
        /// Nobody reads the pipes that the services log to, for the length of the pause.
        case unread
    }

    package struct Fault: Codable, Sendable, Equatable, CustomStringConvertible {
        /// When it begins: how many of ten thousand parts of the notifications are accepted by then.
        package var progress: Int
        package var action: Action
        package var target: Target
        /// Which process or node of the target's, from 1.
        package var member: Int
        /// How long it lasts before it is undone, in milliseconds.
        package var pause: Int

        /// `kill dispatcher-2`.
        package var description: String { "\(kind)-\(member)" }

        /// `kill dispatcher`.
        var kind: String { "\(action.rawValue) \(target.rawValue)" }
    }

    package var request: Request
    /// By when they begin.
    package var faults: [Fault]

    /// The faults of one target, which come one after another: the next waits until the last is undone.
    package func lane(_ target: Target) -> [Fault] { faults.filter { $0.target == target } }

    /// The plan as a table for people.
    package var lines: [String] {
        faults.map { fault in
            let (whole, rest) = fault.progress.quotientAndRemainder(dividingBy: 100)
            let tenths = fault.pause / 100
            return "  at \(whole < 10 ? " " : "")\(whole).\(rest < 10 ? "0" : "")\(rest) %  \(fault)"
                + String(repeating: " ", count: max(1, 24 - fault.description.count))
                + "undone after \(tenths / 10).\(tenths % 10) s"
        }
    }
}

extension FaultPlan {
    /// The part of a run in which faults begin, in ten-thousandths of the notifications: there is work before the
    /// first, and there are notifications after the last that must come through undisturbed.
    private static let span = 600..<9200

    /// Makes the plan of a request: the same request gives the same plan.
    ///
    /// Each target has its faults in equal slots of the run, at a random place in the first two thirds of each slot, so
    /// that faults of one kind do not come upon each other while those of different kinds may.
    package init(_ request: Request) {
        var generator = SeededGenerator(seed: request.seed)
        var faults: [Fault] = []
        for target in Target.allCases {
            let actions = Self.actions(request, target, &generator)
            let members = max(1, request.members[target] ?? 1)
            var last = 0
            for (number, action) in actions.enumerated() {
                let width = Self.span.count / actions.count
                let offset = Int.random(in: 0...(width * 2 / 3), using: &generator)
                last = Self.member(of: members, not: last, &generator)
                faults.append(
                    Fault(
                        progress: Self.span.lowerBound + number * width + offset, action: action, target: target,
                        member: last, pause: Self.pause(request, action, &generator)))
            }
        }
        self.request = request
        // A stable order where two begin at once.
        self.faults = faults.enumerated().sorted { ($0.element.progress, $0.offset) < ($1.element.progress, $1.offset) }
            .map(\.element)
    }

    /// The actions on a target, in order.
    private static func actions(
        _ request: Request, _ target: Target, _ generator: inout SeededGenerator
    ) -> [Action] {
        let kills = [Action](repeating: .kill, count: request.kills[target] ?? 0)
        switch target {
        case .rabbitmq:
            // Data is deleted in the middle of the run, when there is much to lose.
            var actions = kills
            actions.insert(contentsOf: [Action](repeating: .wipe, count: request.wipes), at: kills.count / 2)
            return actions + [Action](repeating: .unbind, count: request.unbinds)
                + [Action](repeating: .remove, count: request.removals)
        case .dispatcher:
            let others =
                [Action](repeating: .stop, count: request.stops) + [Action](repeating: .term, count: request.terms)
                + [Action](repeating: .silence, count: request.silences)
            return (kills + others).shuffled(using: &generator)
        case .hub: return [Action](repeating: .storm, count: request.storms)
        case .logs: return [Action](repeating: .unread, count: request.unreads)
        case .postgres:
            var actions = kills
            actions.insert(contentsOf: [Action](repeating: .readOnly, count: request.readOnlies), at: kills.count / 2)
            return actions
        case .ingest, .retrieval, .hubProcess: return kills
        }
    }

    /// Another than the last, where there is one.
    private static func member(of count: Int, not last: Int, _ generator: inout SeededGenerator) -> Int {
        guard count > 1 else { return 1 }
        guard last > 0 else { return Int.random(in: 1...count, using: &generator) }
        let other = Int.random(in: 1...(count - 1), using: &generator)
        return other < last ? other : other + 1
    }

    private static func pause(_ request: Request, _ action: Action, _ generator: inout SeededGenerator) -> Int {
        switch action {
        case .kill, .wipe, .term, .unbind, .remove: Int.random(in: 100...2000, using: &generator)
        case .stop: request.stopSeconds * Int.random(in: 700...1000, using: &generator)
        // Longer than a drain may last: the dispatcher waits for an answer in vain.
        case .silence: Int.random(in: 12_000...15_000, using: &generator)
        case .storm: request.stormSeconds * 1000
        case .readOnly: 20_000
        case .unread: request.unreadSeconds * 1000
        }
    }
}
