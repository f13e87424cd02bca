import SecurePushCore

extension LoadReport {
    /// The course of the test in intervals of equal length, for plots. All lists have one entry per interval; a latency
    /// is `nil` where there was none.
    struct Timeline: Codable, Sendable, Equatable {
        var intervalSeconds: Double
        var accepted: [Int]
        var failed: [Int]
        /// Of the responses of the interval.
        var acceptP50: [Double?]
        var acceptP99: [Double?]
        /// Estimated from the sample, by the services' clocks; `nil` without waiting for the dispatch.
        var dispatched: [Double]?
        /// Accepted and not dispatched at the end of the interval, estimated from the sample.
        var backlog: [Double]?
        var dispatchP50: [Double?]?
        var dispatchP99: [Double?]?
        /// `nil` without devices.
        var readP50: [Double?]?
        var readP99: [Double?]?

        private enum CodingKeys: String, CodingKey {
            case intervalSeconds = "IntervalSeconds", accepted = "Accepted", failed = "Failed"
            case acceptP50 = "AcceptP50Milliseconds", acceptP99 = "AcceptP99Milliseconds"
            case dispatched = "Dispatched", backlog = "Backlog"
            case dispatchP50 = "DispatchP50Milliseconds", dispatchP99 = "DispatchP99Milliseconds"
            case readP50 = "ReadP50Milliseconds", readP99 = "ReadP99Milliseconds"
        }
    }

    /// The latencies in milliseconds at these percents, for a plot of the whole distribution.
    struct Distributions: Codable, Sendable, Equatable {
        static let percents = [
            1, 5, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.75, 99.9, 99.95, 99.99,
        ]

        var percents: [Double]
        var accept: [Double]
        var dispatch: [Double]?
        var read: [Double]?

        private enum CodingKeys: String, CodingKey {
            case percents = "Percents", accept = "AcceptMilliseconds", dispatch = "DispatchMilliseconds"
            case read = "ReadMilliseconds"
        }
    }
}

extension LoadReport.Timeline {
    init(_ state: LoadMeasurements.State, plan: LoadPlan) {
        var timeline = state.timeline
        if let began = state.began, let ended = state.ended { timeline.cover(ended - began) }
        let dispatch = plan.waits ? DispatchCourse(state, &timeline) : nil
        let slots = timeline.slots
        intervalSeconds = timeline.interval.inSeconds
        accepted = slots.map(\.accepted)
        failed = slots.map(\.failed)
        acceptP50 = slots.map { $0.accept?.milliseconds(50) }
        acceptP99 = slots.map { $0.accept?.milliseconds(99) }
        dispatched = dispatch?.dispatched
        backlog = dispatch?.backlog
        dispatchP50 = dispatch?.percentiles(50)
        dispatchP99 = dispatch?.percentiles(99)
        if plan.devices > 0 {
            readP50 = slots.map { $0.read?.milliseconds(50) }
            readP99 = slots.map { $0.read?.milliseconds(99) }
        }
    }
}

extension LoadReport.Distributions {
    init(_ state: LoadMeasurements.State) {
        percents = Self.percents
        accept = Self.values(state.accepted)
        dispatch = state.dispatch.latency.count > 0 ? Self.values(state.dispatch.latency) : nil
        read = state.reads.latency.count > 0 ? Self.values(state.reads.latency) : nil
    }

    private static func values(_ histogram: LatencyHistogram) -> [Double] { percents.map(histogram.milliseconds) }
}

/// The dispatch in the intervals of a timeline, from the samples' own times.
private struct DispatchCourse {
    var dispatched: [Double]
    var backlog: [Double]
    private var latencies: [[Double]]

    /// Makes the timeline reach to the hub's last response.
    init(_ state: LoadMeasurements.State, _ timeline: inout LoadTimeline) {
        let spans = state.dispatch.spans
        // The services' clock and ours can differ: the first acceptance is the same moment on both.
        let first = spans.map(\.createdAt).min() ?? state.samples.map(\.timestamp).min() ?? .now
        let offset = state.firstAccepted ?? .zero
        func elapsed(_ time: Timestamp) -> Duration { max(.zero, time - first + offset) }
        for span in spans { timeline.cover(elapsed(span.sentAt)) }
        let count = timeline.slots.count
        let samples = spans.count + state.samples.count
        let weight = samples == 0 ? 0 : Double(state.ids.count) / Double(samples)
        var changes = Array(repeating: 0, count: count)
        dispatched = Array(repeating: 0, count: count)
        latencies = Array(repeating: [], count: count)
        func index(_ time: Timestamp) -> Int { min(count - 1, timeline.index(at: elapsed(time))) }
        backlog = []
        guard count > 0 else { return }
        for span in spans {
            let end = index(span.sentAt)
            changes[index(span.createdAt)] += 1
            changes[end] -= 1
            dispatched[end] += 1
            latencies[end].append(max(.zero, span.sentAt - span.createdAt).inSeconds * 1000)
        }
        // Those that are not dispatched yet.
        for id in state.samples { changes[index(id.timestamp)] += 1 }
        var depth = 0
        for change in changes {
            depth += change
            backlog.append((Double(depth) * weight).rounded(toPlaces: 1))
        }
        dispatched = dispatched.map { ($0 * weight).rounded(toPlaces: 1) }
        for index in latencies.indices { latencies[index].sort() }
    }

    func percentiles(_ percent: Double) -> [Double?] {
        latencies.map { sorted in
            guard !sorted.isEmpty else { return nil }
            let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
            return sorted[max(0, min(sorted.count, rank) - 1)]
        }
    }
}
