package import Foundations
import ServiceConfiguration

/// One part that a service depends on, checked at `GET /readyz`.
package struct ReadinessCheck: Sendable {
    /// The name in the answer, for example `database` or `amqp`.
    package let name: String
    /// Whether the service is unready without the part. If not, the answer only names the part as down.
    package let isRequired: Bool
    /// `nil` if the part is up, else the reason for an operator, without secrets. Cancelled after two seconds.
    package let check: @Sendable () async -> String?

    package init(name: String, isRequired: Bool = true, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.isRequired = isRequired
        self.check = check
    }
}

/// Figures for operators at `GET /readyz`. They do not affect readiness.
package struct ReadinessDetail: Sendable {
    /// The name at the top level of the answer.
    package let name: String
    /// The members of its object; `nil` leaves it out. Must not block.
    package let figures: @Sendable () -> [(name: String, value: Int64)]?

    package init(name: String, figures: @escaping @Sendable () -> [(name: String, value: Int64)]?) {
        self.name = name
        self.figures = figures
    }
}

extension ServiceContext {
    /// Has files of keys and credentials looked at in the background, and shows operators their state: one series of
    /// `securepush_file_unusable` per file, a reload at SIGHUP, and the readiness part `files`. Call it once, while the
    /// service is being built.
    ///
    /// The part is down while a file cannot be used. It is not required: all replicas read the same files, so taking
    /// one of them out of service would not help any client.
    ///
    /// - Returns: the check for `GET /readyz`.
    package func watch(_ sources: [ReloadableSource]) -> ReadinessCheck {
        audit?.watch(sources)
        let sources = sources + [audit?.source].compactMap(\.self)
        for source in sources {
            source.watch()
            metrics.observe(.fileUnusable, source.key) { source.problem() == nil ? 0 : 1 }
            onReload(source.key, source.reload)
        }
        return ReadinessCheck(name: "files", isRequired: false) {
            let problems = sources.compactMap { source in source.problem().map { "\(source.key): \($0)" } }
            return problems.isEmpty ? nil : problems.joined(separator: " ")
        }
    }
}

/// The results of the readiness checks.
///
/// As JSON: `{"status":"ready","checks":{"database":"up","amqp":"down"},"reasons":{"amqp":"..."},"amqp":"down"}`. The
/// status is `unready` if a required part is down. Each part that is down is named at the top level as well. Details
/// follow as objects of numbers: `"outbox":{"pending":3,"oldest_age_seconds":0}`.
struct ReadinessReport: Sendable {
    struct Part: Sendable, Hashable {
        let name: String
        let isRequired: Bool
        /// `nil` if the part is up.
        let reason: String?
    }

    /// The time limit of one check.
    static let deadline = Duration.seconds(2)

    /// In the order of the checks.
    let parts: [Part]

    var down: [Part] { parts.filter { $0.reason != nil } }
    var isReady: Bool { !parts.contains { $0.isRequired && $0.reason != nil } }

    /// Runs all checks at once.
    static func collect(_ checks: [ReadinessCheck], deadline: Duration = deadline) async -> ReadinessReport {
        let reasons = await withTaskGroup(of: (Int, String?).self) { group in
            for (index, check) in checks.enumerated() {
                group.addTask { (index, await reason(check, deadline)) }
            }
            return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        return ReadinessReport(
            parts: checks.enumerated().map { index, check in
                Part(name: check.name, isRequired: check.isRequired, reason: reasons[index])
            })
    }

    /// The check's answer, or that the deadline has passed. The check is cancelled then.
    private static func reason(_ check: ReadinessCheck, _ deadline: Duration) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask { await check.check() }
            group.addTask {
                try? await Task.sleep(for: deadline)
                return "no answer within \(deadline.configurationText)"
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    func json(_ details: [ReadinessDetail] = []) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("status", isReady ? "ready" : "unready")
            json.object("checks") { json in
                for part in parts { json.member(part.name, part.reason == nil ? "up" : "down") }
            }
            if !down.isEmpty {
                json.object("reasons") { json in
                    for part in down { json.member(part.name, part.reason ?? "") }
                }
                for part in down { json.member(part.name, "down") }
            }
            for detail in details {
                guard let figures = detail.figures() else { continue }
                json.object(detail.name) { json in
                    for (name, value) in figures { json.member(name, value) }
                }
            }
        }
        return json.bytes
    }
}

/// Keeps the readiness report for one second: a check locks or queries the database, and anybody may ask.
actor ReadinessCache {
    /// How long a report is kept.
    static let lifetime = Duration.seconds(1)

    private let collect: @Sendable () async -> ReadinessReport
    private let now: @Sendable () -> ContinuousClock.Instant
    private var last: (report: ReadinessReport, until: ContinuousClock.Instant)?
    private var running: Task<ReadinessReport, Never>?

    /// - Parameter now: the clock; tests use another one.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        collect: @escaping @Sendable () async -> ReadinessReport
    ) {
        self.collect = collect
        self.now = now
    }

    /// The report of the last second, or a new one. Callers that arrive while the checks run share their result.
    func report() async -> ReadinessReport {
        if let last, now() < last.until { return last.report }
        if let running { return await running.value }
        let task = Task { await collect() }
        running = task
        // Each check has a deadline, so this wait ends too.
        let report = await task.value
        last = (report, now() + Self.lifetime)
        running = nil
        return report
    }
}
