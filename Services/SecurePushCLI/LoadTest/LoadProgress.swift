/// What a load test shows while it runs.
struct LoadProgress: Sendable {
    enum Phase: Sendable, Equatable {
        case preparing
        case sending
        /// Sent; what was accepted is on its way to the hub.
        case dispatching
        /// Dispatched; the devices read.
        case reading
    }

    var phase: Phase
    var total: Int
    var accepted: Int
    var failed: Int
    /// Since sending began.
    var elapsed: Duration
    var rate: Int?
    /// How many are not at the end of their dispatch; `nil` before they were counted.
    var pending: Int?
    /// Samples of the dispatch: how many have ended, and how many are looked at.
    var samples: (ended: Int, all: Int) = (0, 0)
    var reads: (done: Int, expected: Int) = (0, 0)

    init(_ state: LoadLedger.State, plan: LoadPlan, now: ContinuousClock.Instant) {
        total = plan.count
        rate = plan.rate
        accepted = state.ids.count
        failed = state.failed
        elapsed = state.began.map { (state.ended ?? now) - $0 } ?? .zero
        pending = state.dispatch.pending
        samples = (state.dispatch.seen.count, state.dispatch.seen.count + state.samples.count)
        reads = (state.reads.latency.count, state.reads.expected)
        phase =
            if state.began == nil { .preparing } else if state.ended == nil {
                .sending
            } else if pending == 0 && plan.devices > 0 { .reading } else { .dispatching }
    }

    init(phase: Phase, total: Int, accepted: Int, failed: Int = 0, elapsed: Duration, rate: Int? = nil) {
        self.phase = phase
        self.total = total
        self.accepted = accepted
        self.failed = failed
        self.elapsed = elapsed
        self.rate = rate
    }

    /// One line: `sending  12,345 of 100,000  12%  4,980/s  18 s left`.
    var line: String {
        let faults = failed > 0 ? "  \(failed.grouped) failed" : ""
        switch phase {
        case .preparing: return "preparing  devices register"
        case .sending: return "sending  " + share(accepted + failed, total) + speed + faults + timeLeft
        case .dispatching:
            if let pending { return "counting  \(pending.grouped) of \(accepted.grouped) not counted yet" + faults }
            return "dispatching  \(percent(samples.ended, samples.all)) of the samples" + faults
        case .reading: return "reading  " + share(reads.done, reads.expected)
        }
    }

    private var perSecond: Double {
        elapsed > .zero ? Double(accepted) / elapsed.inSeconds : 0
    }

    private var speed: String { "  \(perSecond.figure)/s" }

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
