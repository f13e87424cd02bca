/// Hubs of one's own: what their push service saw, and why a push may have come to a device twice.
extension Checker {
    /// A time in which a hub could lose the record of a push that was accepted.
    struct Outage: Sendable, Equatable {
        var fault: String
        var begin: Int64
        /// The largest number while it lasts.
        var end: Int64
    }

    /// How long a hub may take to note that a push was accepted, in milliseconds: it answers a send after 2 s at the
    /// latest (contract-hub, K3), and then writes.
    static let noteGrace: Int64 = 3000
    /// From the beginning of a kill to the last push that the process had sent.
    static let killGrace: Int64 = 1000

    /// Whether the pushes are of hubs of one's own, with an event for each device.
    var isOwn: Bool { run?.hub == "own" }

    mutating func note(outage nemesis: HistoryEvent.Nemesis) {
        let isKill = nemesis.fault.hasPrefix("kill hub-process")
        guard isKill || nemesis.fault.contains(" postgres") else { return }
        switch nemesis.phase {
        case .begin:
            let end = isKill ? nemesis.time + Self.killGrace : Int64.max
            outages.append(Outage(fault: nemesis.fault, begin: nemesis.time - Self.noteGrace, end: end))
        case .end where !isKill:
            guard let index = outages.lastIndex(where: { $0.fault == nemesis.fault && $0.end == .max }) else { return }
            outages[index].end = nemesis.time + Self.noteGrace
        case .end: break
        }
    }

    /// What the sends of a platform are counted by: the platform, or with hubs of one's own each device of the user.
    func audiences(of trace: Trace, _ platform: String, _ ofUser: [String: [HistoryEvent.Device]]) -> [String] {
        guard isOwn else { return [platform] }
        let recipient = trace.recipient ?? trace.record?.recipient ?? ""
        return (ofUser[recipient] ?? []).filter { $0.platform == platform }.map(\.name)
    }

    func platform(of audience: String) -> String { devices[audience]?.platform ?? audience }

    /// How many pushes beyond the first have a reason: the dispatcher knew no answer, the push service lost one, or the
    /// hub could not note it.
    func reasons(for trace: Trace, _ audience: String) -> Int {
        let unanswered = trace.delivery(platform(of: audience))?.unanswered ?? 0
        guard isOwn, let times = trace.pushes[audience]?.sorted() else { return unanswered }
        let lost = trace.lostAnswers[audience] ?? []
        // Each but the last may be why the next one came.
        return unanswered
            + times.dropLast().count { time in
                lost.contains(time) || outages.contains { ($0.begin...$0.end).contains(time) }
            }
    }

    func addHubs(to verdict: inout Verdict, _ tally: Tally) {
        guard isOwn else { return }
        let platforms = run?.platforms ?? []
        let known = platforms.compactMap { pushServices[$0] }
        guard known.count == platforms.count else {
            verdict.bar("devices wrongly removed", "unknown", "0", false)
            return
        }
        addAnswers(to: &verdict, known.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) })
        let problems = known.flatMap(\.problems)
        verdict.bar("protocol errors that the push services saw", problems.count, "0", problems.isEmpty)
        for problem in problems { verdict.remark("a push service saw: \(problem)") }
        let removed = known.flatMap(\.wronglyRemoved)
        verdict.bar("devices wrongly removed", removed.count, "0", removed.isEmpty)
        for device in removed.sorted() { verdict.remark("\(device) is alive, and no hub pushes to it") }
        let isWhole = Set(devices.keys).isSubset(of: known.flatMap(\.alive))
        verdict.bar("devices that the push services know", isWhole ? "all" : "not all", "all", isWhole)
        for (platform, service) in zip(platforms, known) { addPlatform(platform, service, to: &verdict, tally) }
        let searched = leaks.contains { $0.subject != nil }
        if !searched { verdict.bar("logs searched for handles and keys", "no", "yes", false) }
    }

    private func addAnswers(to verdict: inout Verdict, _ counts: [String: Int]) {
        let asked = counts["requests.all"] ?? 0
        let bad = counts.filter { $0.key.hasPrefix("faults.") }
        let share = Double(bad.values.reduce(0, +)) / Double(max(asked, 1))
        verdict.note("requests to the push services", asked)
        verdict.note("  of which they answered badly", Verdict.percent(share))
        for (fault, count) in bad.sorted(by: { $0.key < $1.key }) { verdict.note("  \(fault)", count) }
        let lost = notifications.values.reduce(0) { $0 + $1.lostAnswers.values.reduce(0) { $0 + $1.count } }
        verdict.note("  pushes whose answer may be lost", lost)
        let refused = counts.filter { $0.key.hasPrefix("refused.") }
        verdict.bar("pushes that a push service refused as wrong", refused.values.reduce(0, +), "0", refused.isEmpty)
        for reason in refused.keys.sorted() { verdict.remark("a push service refused a push: \(reason)") }
    }

    /// The three promises for one platform in one row.
    private func addPlatform(
        _ platform: String, _ service: HistoryEvent.PushService, to verdict: inout Verdict, _ tally: Tally
    ) {
        let accepted = service.counts["accepted.all"] ?? 0
        verdict.note("\(platform): pushes accepted, devices", "\(accepted), \(service.alive.count)")
        let found = [
            tally.lostOf[platform] ?? 0, service.wronglyRemoved.count, tally.unexplainedOf[platform] ?? 0,
        ]
        verdict.bar(
            "\(platform): lost, wrongly removed, repeated without a reason",
            found.map(String.init).joined(separator: ", "), "0, 0, 0", found.allSatisfy { $0 == 0 })
    }
}

extension HistoryEvent.PushService {
    /// The devices that live and that no hub pushes to.
    fileprivate var wronglyRemoved: Set<String> { Set(alive).subtracting(registered) }
}
