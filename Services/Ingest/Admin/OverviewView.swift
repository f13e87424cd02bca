/// The overview as the template shows it: every value is a text.
struct OverviewView: Sendable {
    struct Choice: Sendable { var window, label: String; var isCurrent: Bool }
    struct SourceRow: Sendable { var name, detail: String; var since: TimeView }
    struct Step: Sendable { var label, meaning, count, share, width: String }
    struct Fact: Sendable { var label, value: String }
    struct LaneRow: Sendable {
        var platform, hub, dispatcher, mark, stateClass, state, limit, sent, failed, p99, held: String
    }
    struct QueueRow: Sendable { var name, purpose, messages, consumers, note: String; var hasTrouble: Bool }
    struct ProcessRow: Sendable {
        var kind, address, mark, stateClass, state, version, memory, cpu: String
        var since: TimeView
    }
    struct FailureRow: Sendable {
        var platform, reason, count, window: String
        var newest: TimeView
        var examples: [Example]
    }
    struct Example: Sendable { var id, short: String }

    var title = "Overview"
    var isOverview = true
    var time: TimeView
    var version: String
    var choices: [Choice]
    var outages: [SourceRow]
    var missing: [SourceRow]
    var hasOutage: Bool
    var hasFunnel: Bool
    var funnel: [Step]
    var cut: [TimeView]
    var aside: [Fact]
    var rates: [Fact]
    var outbox: [Fact]
    var lanes: [LaneRow]
    var noLanes: Bool
    var queues: [QueueRow]
    var noQueues: Bool
    /// The age of the oldest notification that is neither final nor scheduled for later.
    var oldestUnfinished: String
    var processes: [ProcessRow]
    var charts: [LatencyChart]
    var failures: [FailureRow]
    var noFailures: Bool
    var failuresUnknown: Bool
    var moreFailures: Bool
    var deadLetters: String
    var hasDeadLetters: Bool
}

extension OverviewView {
    init(_ overview: Overview, failures report: FailureReport?, window: AdminWindow) {
        let rows = { (state: String) in
            overview.sources.filter { $0.state == state }.map {
                SourceRow(name: $0.name, detail: $0.detail ?? "", since: TimeView($0.since))
            }
        }
        let dead = overview.queues.first { $0.purpose == "dead" }?.messages
        self.init(
            time: TimeView(overview.time), version: overview.version,
            choices: AdminWindow.allCases.map {
                Choice(window: $0.rawValue, label: $0.label, isCurrent: $0 == window)
            },
            outages: rows("down"), missing: rows("off"), hasOutage: overview.sources.contains { $0.state == "down" },
            hasFunnel: overview.funnel != nil, funnel: Self.steps(overview.funnel),
            cut: overview.funnel.flatMap { $0.isCut ? [TimeView($0.since)] : nil } ?? [],
            aside: Self.aside(overview.funnel), rates: Self.facts(overview.rates), outbox: Self.facts(overview.outbox),
            lanes: overview.lanes.map(Self.row), noLanes: overview.lanes.isEmpty,
            queues: overview.queues.map(Self.row), noQueues: overview.queues.isEmpty,
            oldestUnfinished: overview.funnel == nil ? "unknown" : Self.age(overview.outbox.oldestUnfinishedSeconds),
            processes: overview.processes.map(Self.row), charts: overview.latencies.map { LatencyChart($0) },
            failures: (report?.groups ?? []).map { Self.row($0, window) },
            noFailures: report.map { $0.groups.isEmpty } ?? false, failuresUnknown: report == nil,
            moreFailures: report?.next != nil, deadLetters: dead?.formatted ?? "unknown",
            hasDeadLetters: dead.map { $0 > 0 } ?? false)
    }

    private static func steps(_ funnel: Overview.Funnel?) -> [Step] {
        guard let funnel else { return [] }
        let all: [(String, String, Int)] = [
            ("Accepted", "stored by ingest", funnel.accepted),
            ("Published", "the broker has or had the ID", funnel.published),
            ("Accepted by the hub", "for at least one platform", funnel.pushed),
            ("Read", "fetched, or marked as read", funnel.read),
            ("Shown", "reported by a device", funnel.shown),
        ]
        return all.map { label, meaning, count in
            let share = funnel.accepted > 0 ? Double(count) / Double(funnel.accepted) : 0
            return Step(
                label: label, meaning: meaning, count: count.formatted,
                share: funnel.accepted > 0 ? "\((share * 1000).rounded() / 10) %" : "–",
                width: "\((share * 1000).rounded() / 10)")
        }
    }

    private static func aside(_ funnel: Overview.Funnel?) -> [Fact] {
        guard let funnel else { return [] }
        return [
            Fact(label: "Failed on every platform", value: funnel.failed.formatted),
            Fact(label: "Failed on some", value: funnel.partial.formatted),
            Fact(label: "Revoked", value: funnel.revoked.formatted),
        ]
    }

    private static func facts(_ rates: Overview.Rates) -> [Fact] {
        let all: [(String, Double?)] = [
            ("Accepted", rates.accepted), ("Published", rates.published), ("Accepted by the hub", rates.pushed),
            ("Retries", rates.retried), ("Fetched", rates.read),
        ]
        return all.map { Fact(label: $0.0, value: $0.1.map { "\($0.short)/s" } ?? "unknown") }
    }

    private static func facts(_ outbox: Overview.Outbox) -> [Fact] {
        [
            Fact(label: "Waiting to be published", value: outbox.pending?.formatted ?? "unknown"),
            Fact(label: "Oldest that is due", value: age(outbox.oldestDueSeconds)),
        ]
    }

    private static func age(_ seconds: Int64?) -> String { seconds.map { Int($0).spokenSeconds } ?? "none" }

    private static func row(_ lane: Overview.Lane) -> LaneRow {
        let (mark, name, text) =
            switch lane.state {
            case "open": ("✓", "good", "open")
            case "paused": ("‖", "warn", "paused or slow")
            case "refused": ("✕", "bad", "refused by the hub")
            default: ("?", "warn", "unknown")
            }
        return LaneRow(
            platform: lane.platform, hub: lane.hub, dispatcher: lane.dispatcher, mark: mark, stateClass: name,
            state: text, limit: lane.limit?.formatted ?? "–", sent: lane.sentPerSecond?.short ?? "–",
            failed: lane.failedPerSecond?.short ?? "–", p99: lane.p99Milliseconds.map { "\($0.short) ms" } ?? "–",
            held: lane.held?.formatted ?? "–")
    }

    private static func row(_ queue: Overview.Queue) -> QueueRow {
        let purposes = ["dispatch": "work for dispatchers", "retry": "waiting for a retry", "dead": "dead letters"]
        let isDeserted = queue.purpose == "dispatch" && queue.consumers == 0
        return QueueRow(
            name: queue.name, purpose: purposes[queue.purpose] ?? queue.purpose,
            messages: queue.messages?.formatted ?? "unknown",
            consumers: queue.purpose == "dispatch" ? queue.consumers?.formatted ?? "unknown" : "–",
            note: queue.problem ?? (isDeserted ? "No dispatcher consumes it." : ""),
            hasTrouble: queue.problem != nil || isDeserted || queue.purpose == "dead" && queue.messages ?? 0 > 0)
    }

    private static func row(_ process: Overview.Process) -> ProcessRow {
        let isUp = process.state == "up"
        return ProcessRow(
            kind: process.kind.rawValue, address: process.address, mark: isUp ? "✓" : "✕",
            stateClass: isUp ? "good" : "bad", state: isUp ? "alive" : process.problem ?? "does not answer",
            version: process.version ?? "–",
            memory: process.residentMemoryBytes.map { "\($0 >> 20) MiB" } ?? "–",
            cpu: process.cpuPercent.map { "\($0.short) %" } ?? "–",
            since: TimeView(isUp ? process.startedAt : process.since))
    }

    private static func row(_ group: FailureReport.Group, _ window: AdminWindow) -> FailureRow {
        FailureRow(
            platform: group.platform, reason: group.reason, count: group.count.formatted, window: window.rawValue,
            newest: TimeView(group.newest), examples: group.ids.map { Example(id: $0, short: $0.shortID) })
    }
}

/// A time as the template shows it; the script turns it into local time.
struct TimeView: Sendable {
    /// RFC 3339; empty if there is none.
    var iso: String
    /// For browsers without the script, in UTC.
    var text: String

    init(_ iso: String?) {
        self.iso = iso ?? ""
        text = iso.map { "\($0.prefix(10)) \($0.dropFirst(11).prefix(8)) UTC" } ?? "–"
    }
}

extension AdminWindow {
    /// For a person.
    var label: String {
        switch self {
        case .quarter: "15 minutes"
        case .hour: "1 hour"
        case .day: "24 hours"
        }
    }
}

extension Int {
    /// In groups of three digits.
    var formatted: String {
        var text = ""
        for (index, digit) in String(magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + String(text.reversed())
    }

    /// A number of seconds for a person.
    var spokenSeconds: String {
        switch self {
        case ..<120: "\(self) s"
        case ..<7200: "\(self / 60) min"
        case ..<172_800: "\(self / 3600) h"
        default: "\(self / 86_400) days"
        }
    }
}

extension Double {
    /// With at most one decimal above 10, and two below.
    var short: String {
        let scale: Double = abs(self) >= 10 ? 10 : 100
        let value = (self * scale).rounded() / scale
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }
}

extension String {
    /// The last group of an ID, where IDs of one second differ.
    var shortID: String { "…" + suffix(12) }
}
