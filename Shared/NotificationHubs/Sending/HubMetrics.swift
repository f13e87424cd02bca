import Metrics
import NIOCore
import SecurePushCore

/// `securepush_dispatch_attempts_total{platform,hub,result,reason}` and
/// `securepush_hub_request_duration_seconds{platform,hub,code}`; made when a platform's request first ends in a way,
/// and held, because looking metrics up costs more than counting.
struct HubMetrics {
    private struct Instruments {
        let platform: Platform
        let end: HubRequestEnd
        let result: String
        let duration: Timer
        let attempts: Counter
    }

    private let hub: String
    /// A handful, the usual end first: a search is quicker than a hash.
    private var instruments: [Instruments] = []
    /// Requests that the hub may have taken though it did not say so, by how they ended.
    private var ambiguous: [HubRequestEnd: Counter] = [:]

    init(hub: String) { self.hub = hub }

    mutating func record(
        _ outcome: SendOutcome, _ end: HubRequestEnd, platform: Platform, duration: TimeAmount
    ) {
        let position = position(of: platform, end, outcome.label)
        instruments[position].duration.recordNanoseconds(duration.nanoseconds)
        instruments[position].attempts.increment()
        if case .unanswered = outcome { countAmbiguous(end) }
    }

    private mutating func countAmbiguous(_ end: HubRequestEnd) {
        let counter =
            ambiguous[end] ?? Counter(label: "securepush_ambiguous_total", dimensions: [("reason", end.code)])
        ambiguous[end] = counter
        counter.increment()
    }

    private mutating func position(of platform: Platform, _ end: HubRequestEnd, _ result: String) -> Int {
        let known = instruments.firstIndex { $0.end == end && $0.platform == platform && $0.result == result }
        if let known { return known }
        let labels = [("platform", platform.rawValue), ("hub", hub)]
        instruments.append(
            Instruments(
                platform: platform, end: end, result: result,
                duration: Timer(
                    label: "securepush_hub_request_duration_seconds", dimensions: labels + [("code", end.code)]),
                attempts: Counter(
                    label: "securepush_dispatch_attempts_total",
                    dimensions: labels + [("result", result), ("reason", end.reason)])))
        return instruments.count - 1
    }
}
