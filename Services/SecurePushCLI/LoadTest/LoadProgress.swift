struct LoadProgress: Sendable {
    enum Phase: Sendable, Equatable {
        case preparing
        case sending
        /// Everything is sent, but not dispatched yet.
        case dispatching
        /// Everything is dispatched, but not read by the devices yet.
        case reading
    }

    var phase: Phase
    var total: Int
    var accepted: Int
    var failed = 0
    /// Since sending began.
    var elapsed: Duration
    /// Notifications whose dispatch is not complete; `nil` if not counted yet.
    var pending: Int?
    /// Notifications whose dispatch is complete, estimated from the samples until they are counted.
    var dispatched = 0
    /// Samples whose dispatch is complete, and all samples.
    var samples: (ended: Int, all: Int) = (0, 0)
    var reads: (done: Int, expected: Int) = (0, 0)

    /// One line: `sending  12,345 of 100,000  12%  4,980/s  18 s left`.
    var line: String {
        let faults = failed > 0 ? "  \(failed.grouped) failed" : ""
        switch phase {
        case .preparing: return "preparing  registering devices"
        case .sending: return "sending  " + share(accepted + failed, total) + speed + faults + timeLeft
        case .dispatching:
            if let pending { return "counting  \(pending.grouped) of \(accepted.grouped) not dispatched yet" + faults }
            return "dispatching  \(percent(samples.ended, samples.all)) of the samples" + faults
        case .reading: return "reading  " + share(reads.done, reads.expected)
        }
    }

    /// `  4,980/s`
    private var speed: String { "  \((elapsed > .zero ? Double(accepted) / elapsed.inSeconds : 0).figure)/s" }

    private var timeLeft: String {
        let left = total - accepted - failed
        let all = elapsed > .zero ? Double(accepted + failed) / elapsed.inSeconds : 0
        guard left > 0, all > 0 else { return "" }
        let seconds = Int((Double(left) / all).rounded(.up))
        return "  \(seconds < 10 ? "\(seconds) s" : Duration.seconds(seconds).spoken) left"
    }

    private func share(_ part: Int, _ whole: Int) -> String {
        "\(part.grouped) of \(whole.grouped)  \(percent(part, whole))"
    }

    private func percent(_ part: Int, _ whole: Int) -> String { whole > 0 ? "\(part * 100 / whole)%" : "0%" }
}

extension LoadProgress {
    init(_ state: LoadMeasurements.State, plan: LoadPlan, stride: Int) {
        let pending = state.dispatch.pending
        // The last sample can be one outside of the stride.
        let left = pending ?? (state.ids.count - state.dispatch.seen.count * stride)
        self.init(
            phase: state.began == nil
                ? .preparing
                : state.ended == nil ? .sending : pending == 0 && plan.devices > 0 ? .reading : .dispatching,
            total: plan.count, accepted: state.ids.count, failed: state.failed,
            elapsed: state.began.map { (state.ended ?? .now) - $0 } ?? .zero, pending: pending,
            dispatched: state.ids.count - max(0, left),
            samples: (state.dispatch.seen.count, state.dispatch.seen.count + state.samples.count),
            reads: (state.reads.latency.count, state.reads.expected))
    }

    /// The lines for the milestones that were reached since the last call, at most one of each kind.
    func milestones(_ accepting: inout Milestone, _ dispatching: inout Milestone) -> [String] {
        guard phase != .preparing else { return [] }
        let faults = failed > 0 ? "  \(failed.grouped) failed" : ""
        let lines = [
            accepting.next(accepted, of: total).map {
                "accepted    \($0)%  \(accepted.grouped) of \(total.grouped)" + speed + faults
            },
            dispatching.next(dispatched, of: total).map {
                "dispatched  \($0)%  \(dispatched.grouped) of \(total.grouped)"
            },
        ]
        return lines.compactMap { $0 }
    }
}
