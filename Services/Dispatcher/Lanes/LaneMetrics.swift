import Metrics
import SecurePushCore

/// A lane's instruments.
struct LaneMetrics: Sendable {
    private let state: Gauge
    private let limit: Gauge
    let held: Counter

    init(platform: Platform, hub: String) {
        let labels = [("platform", platform.rawValue), ("hub", hub)]
        state = Gauge(label: "securepush_lane_state", dimensions: labels)
        limit = Gauge(label: "securepush_lane_limit", dimensions: labels)
        held = Counter(label: "securepush_lane_held_total", dimensions: labels)
    }

    func show(_ condition: LaneCondition, limit: Int) {
        state.record(condition.rawValue)
        self.limit.record(limit)
    }
}

/// What operators hear of a lane: the value of `securepush_lane_state`.
enum LaneCondition: Int, Sendable {
    case open = 0
    /// Throttled, failing, silent or slow.
    case paused = 1
    /// The hub refuses the credentials, or there is no hub of that name.
    case fault = 2

    init(_ book: LaneState) {
        switch book.circuit.state.pause?.cause {
        case .credentials?, .noHub?: self = .fault
        case .throttled?, .failing?, .silent?, .unreachable?, .refused?, .notFound?: self = .paused
        case nil: self = book.isBehind ? .paused : .open
        }
    }
}
