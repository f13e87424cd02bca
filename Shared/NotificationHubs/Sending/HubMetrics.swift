import Domain
import Metrics
import NIOCore

/// `securepush_dispatch_attempts_total{platform,hub,result,reason}` and
/// `securepush_hub_request_duration_seconds{platform,hub,code}`. Instruments are made when a platform's request first
/// ends in some way, and kept, because looking up an instrument costs more than counting.
struct HubMetrics {
    private struct Instruments {
        let platform: Platform
        let end: HubRequestEnd
        let result: String
        let duration: Timer
        let attempts: Counter
    }

    private let hub: String
    /// There are few, and the usual end is the first: a linear search is faster than a hash.
    private var instruments: [Instruments] = []
    /// Counts requests whose outcome is unknown (`securepush_ambiguous_total`), by how they ended.
    private var ambiguous: [HubRequestEnd: Counter] = [:]

    init(hub: String) { self.hub = hub }

    mutating func record(
        _ outcome: SendOutcome, _ end: HubRequestEnd, platform: Platform, duration: TimeAmount
    ) {
        let position = position(of: platform, end, outcome.meaning.label)
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

/// How a request to the hub ended, as metrics count it.
enum HubRequestEnd: Hashable {
    case status(Int)
    /// There was no response in time, or no free connection.
    case timeout
    /// The connection broke, could not be opened, or carried something other than HTTP.
    case connection
    case shutdown
    /// The request was not written because it would not have been valid.
    case invalid

    /// The label `code` of `securepush_hub_request_duration_seconds`.
    var code: String {
        switch self {
        case .status(let status): "\(status)"
        case .timeout: "timeout"
        case .connection: "connection"
        case .shutdown: "shutdown"
        case .invalid: "invalid"
        }
    }

    /// The label `reason` of `securepush_dispatch_attempts_total`.
    var reason: String {
        switch self {
        case .status(200), .status(201): "none"
        case .status(let status): "http_\(status)"
        case .timeout, .connection, .shutdown, .invalid: code
        }
    }
}
