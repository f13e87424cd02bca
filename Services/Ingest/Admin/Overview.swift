/// The answer of `GET /admin/api/overview`: everything that the page shows at a glance. Never a payload.
struct Overview: Encodable, Sendable {
    /// A part of the system that the page reads from.
    struct Source: Encodable, Sendable {
        /// `database`, `broker`, `dispatchers` or `retrieval`.
        var name: String
        /// `up`, `down`, or `off` if no setting names it.
        var state: String
        /// Since when it is down.
        var since: String?
        /// Why it is down, or which setting names it.
        var detail: String?
    }

    /// How far the notifications of a time have come.
    struct Funnel: Encodable, Sendable {
        var window: String
        /// When the oldest notification that was counted was accepted, or the beginning of the window.
        var since: String
        /// Whether the window has more notifications than are counted.
        var isCut: Bool
        var accepted: Int
        var published: Int
        var pushed: Int
        var read: Int
        var shown: Int
        var partial: Int
        var failed: Int
        var revoked: Int
    }

    /// Events per second between the last two polls.
    struct Rates: Encodable, Sendable {
        var accepted: Double?
        var published: Double?
        var pushed: Double?
        var retried: Double?
        var read: Double?
    }

    struct Queue: Encodable, Sendable {
        var name: String
        var purpose: String
        var messages: Int?
        var consumers: Int?
        var problem: String?
    }

    struct Outbox: Encodable, Sendable {
        /// Entries without a known confirm of the broker, with scheduled ones.
        var pending: Int?
        /// The age of the oldest entry that is due and not confirmed.
        var oldestDueSeconds: Int64?
        /// The age of the oldest notification that is neither final nor scheduled for later.
        var oldestUnfinishedSeconds: Int64?
    }

    struct Lane: Encodable, Sendable {
        var platform: String
        var hub: String
        var dispatcher: String
        /// `open`, `paused` or `refused`.
        var state: String
        /// Requests that it may have in flight.
        var limit: Int?
        var sentPerSecond: Double?
        var failedPerSecond: Double?
        /// Sends that it held since the dispatcher's start.
        var held: Int?
        /// Of the requests between the last two polls.
        var p99Milliseconds: Double?
    }

    struct Process: Encodable, Sendable {
        var kind: ProcessKind
        var address: String
        /// `up` or `down`.
        var state: String
        var since: String
        var problem: String?
        var version: String?
        var startedAt: String?
        var residentMemoryBytes: Int64?
        /// 100 is one core.
        var cpuPercent: Double?
    }

    /// Percentiles at one time, over the minute before it. They are missing if there was nothing to measure.
    struct LatencyPoint: Encodable, Sendable {
        var at: String
        var p50Milliseconds: Double?
        var p95Milliseconds: Double?
        var p99Milliseconds: Double?
    }

    /// A latency and its past.
    struct Latency: Encodable, Sendable {
        var name: String
        var title: String
        /// The time that a percentile covers.
        var windowSeconds: Int
        /// The values in that time.
        var count: Int
        var p50Milliseconds: Double?
        var p95Milliseconds: Double?
        var p99Milliseconds: Double?
        /// Oldest first, one per poll.
        var points: [LatencyPoint]
    }

    var time: String
    var service: String
    var version: String
    var sources: [Source]
    /// Missing while the database cannot be reached.
    var funnel: Funnel?
    var rates: Rates
    /// Empty while the broker cannot be reached.
    var queues: [Queue]
    var outbox: Outbox
    var lanes: [Lane]
    var processes: [Process]
    var latencies: [Latency]
}

/// The times that the funnel and the failures can cover.
enum AdminWindow: String, Sendable, CaseIterable {
    case quarter = "15m"
    case hour = "1h"
    case day = "24h"

    var duration: Duration {
        switch self {
        case .quarter: .seconds(900)
        case .hour: .seconds(3600)
        case .day: .seconds(86_400)
        }
    }
}
