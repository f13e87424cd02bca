import Foundations
import ServiceRuntime

/// The answer of `GET /admin/api/overview`: everything that the page shows at a glance. Never a payload.
struct Overview: Encodable, Sendable {
    /// A part of the system that the page reads from.
    struct Source: Encodable, Sendable {
        /// `database`, `broker`, `ingest`, `dispatcher`, `retrieval` or `hub`.
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
        var state: Readiness.State
        var since: String
        var problem: String?
        var version: String?
        var startedAt: String?
        var residentMemoryBytes: Int64?
        /// 100 is one core.
        var cpuPercent: Double?
    }

    /// Percentiles over the minute before each time, oldest first. They are missing where there was nothing to measure.
    struct LatencyPoints: Encodable, Sendable {
        var at: [String] = []
        var p50: [Double?] = []
        var p95: [Double?] = []
        var p99: [Double?] = []
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
        /// One per poll.
        var points: LatencyPoints
    }

    var time: String
    var service: String
    var version: String
    /// `good`, `warn` or `bad`: the worst of ``troubles``.
    var state = Trouble.Level.good
    /// The worst first.
    var troubles: [Trouble] = []
    var sources: [Source]
    /// Missing while the database cannot be reached.
    var funnel: Funnel?
    var rates: Rates
    /// Empty while the broker cannot be reached.
    var queues: [Queue]
    var outbox: Outbox
    var lanes: [Lane]
    /// Of your own hubs.
    var pushServices: [PushServiceLane] = []
    var processes: [Process]
    var latencies: [Latency]
    /// Missing while the database cannot be reached.
    var failures: FailureReport?
    /// The most frequent first. Missing while the database cannot be reached.
    var genericTexts: [GenericText]?
}

extension Overview {
    /// The overview with later points of latencies only, for a page that has the earlier ones; all without a time.
    func after(_ time: Timestamp?) -> Overview {
        guard let time = time?.description else { return self }
        var later = self
        for (index, latency) in latencies.enumerated() {
            // The times have one format, so they can be compared as texts.
            let known = latency.points.at.prefix { $0 <= time }.count
            later.latencies[index].points.removeFirst(known)
        }
        return later
    }
}

extension Overview.LatencyPoints {
    mutating func removeFirst(_ count: Int) {
        at.removeFirst(count)
        p50.removeFirst(count)
        p95.removeFirst(count)
        p99.removeFirst(count)
    }
}

/// The times that the funnel and the failures can cover.
enum TimeWindow: String, Sendable, CaseIterable {
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
