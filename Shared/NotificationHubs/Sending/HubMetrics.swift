import Metrics
import NIOCore
import SecurePushCore

/// `securepush_hub_requests_total{platform,result}` and `securepush_hub_request_duration_seconds{platform}`; made at
/// a platform's first request and held, because looking metrics up costs more than counting.
struct HubMetrics {
    private struct Instruments {
        let platform: Platform
        let duration: Timer
        let sent, throttled, unavailable, rejected, unauthorized: Counter

        init(_ platform: Platform) {
            func counter(_ result: String) -> Counter {
                Counter(
                    label: "securepush_hub_requests_total",
                    dimensions: [("platform", platform.rawValue), ("result", result)])
            }
            self.platform = platform
            duration = Timer(
                label: "securepush_hub_request_duration_seconds", dimensions: [("platform", platform.rawValue)])
            sent = counter("sent")
            throttled = counter("throttled")
            unavailable = counter("unavailable")
            rejected = counter("rejected")
            unauthorized = counter("unauthorized")
        }

        func record(_ outcome: SendOutcome) {
            switch outcome {
            case .sent: sent.increment()
            case .throttled: throttled.increment()
            case .unavailable: unavailable.increment()
            case .rejected: rejected.increment()
            case .unauthorized: unauthorized.increment()
            }
        }
    }

    /// A handful: a search is quicker than a hash.
    private var instruments: [Instruments] = []

    mutating func record(_ outcome: SendOutcome, platform: Platform, duration: TimeAmount) {
        let position = position(of: platform)
        instruments[position].duration.recordNanoseconds(duration.nanoseconds)
        instruments[position].record(outcome)
    }

    private mutating func position(of platform: Platform) -> Int {
        if let position = instruments.firstIndex(where: { $0.platform == platform }) { return position }
        instruments.append(Instruments(platform))
        return instruments.count - 1
    }
}
