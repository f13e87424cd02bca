extension FaultPlan {
    /// The part of a run in which faults begin, in ten-thousandths of the notifications: there is work before the
    /// first, and there are notifications after the last that must come through undisturbed.
    private static let span = 600..<9200

    /// Makes the plan of a request: the same request gives the same plan.
    ///
    /// Each target has its faults in equal slots of the run, at a random place in the first two thirds of each slot, so
    /// that faults of one kind do not come upon each other while those of different kinds may.
    public init(_ request: Request) {
        var generator = SplitMix(seed: request.seed)
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

    /// What happens to a target, in order.
    private static func actions(
        _ request: Request, _ target: Target, _ generator: inout SplitMix
    ) -> [Action] {
        let kills = [Action](repeating: .kill, count: request.kills[target] ?? 0)
        switch target {
        case .rabbitmq:
            // Data is deleted in the middle of the run, when there is much to lose.
            var actions = kills
            actions.insert(contentsOf: [Action](repeating: .wipe, count: request.wipes), at: kills.count / 2)
            return actions
        case .dispatcher:
            let others =
                [Action](repeating: .stop, count: request.stops) + [Action](repeating: .term, count: request.terms)
                + [Action](repeating: .silence, count: request.silences)
            return (kills + others).shuffled(using: &generator)
        case .hub: return [Action](repeating: .storm, count: request.storms)
        case .postgres, .ingest, .retrieval: return kills
        }
    }

    /// Another than the last, where there is one.
    private static func member(of count: Int, not last: Int, _ generator: inout SplitMix) -> Int {
        guard count > 1 else { return 1 }
        guard last > 0 else { return Int.random(in: 1...count, using: &generator) }
        let other = Int.random(in: 1...(count - 1), using: &generator)
        return other < last ? other : other + 1
    }

    private static func pause(_ request: Request, _ action: Action, _ generator: inout SplitMix) -> Int {
        switch action {
        case .kill, .wipe, .term: Int.random(in: 100...2000, using: &generator)
        case .stop: request.stopSeconds * Int.random(in: 700...1000, using: &generator)
        // Longer than a drain may last: what the dispatcher waits for does not come.
        case .silence: Int.random(in: 12_000...15_000, using: &generator)
        case .storm: request.stormSeconds * 1000
        }
    }
}
