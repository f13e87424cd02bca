import SecurePushCore
import ServiceConfiguration

/// What the readiness checks said.
///
/// As JSON: `{"status":"ready","checks":{"database":"up","amqp":"down"},"reasons":{"amqp":"..."},"amqp":"down"}`, where
/// `status` is `unready` if a required part is down, and each part that is down is named at the top level as well.
/// Details follow as objects of numbers: `"outbox":{"pending":3,"oldest_age_seconds":0}`.
struct ReadinessReport: Sendable {
    struct Part: Sendable, Hashable {
        let name: String
        let isRequired: Bool
        /// `nil`: up.
        let reason: String?
    }

    /// How long one check may take.
    static let deadline = Duration.seconds(2)

    /// In the order of the checks.
    let parts: [Part]

    var down: [Part] { parts.filter { $0.reason != nil } }
    var isReady: Bool { !parts.contains { $0.isRequired && $0.reason != nil } }

    /// Asks all parts at once.
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

    /// The first of the check's answer and the deadline; the other is cancelled.
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

    func json(_ details: [ReadinessDetail] = []) -> String {
        var text = JSONWriter()
        text.raw("{")
        text.member("status", isReady ? "ready" : "unready")
        text.member("checks")
        text.raw("{")
        for part in parts { text.member(part.name, part.reason == nil ? "up" : "down") }
        text.raw("}")
        if !down.isEmpty {
            text.member("reasons")
            text.raw("{")
            for part in down { text.member(part.name, part.reason ?? "") }
            text.raw("}")
            for part in down { text.member(part.name, "down") }
        }
        for detail in details {
            guard let figures = detail.figures() else { continue }
            text.member(detail.name)
            text.raw("{")
            for (name, value) in figures {
                text.member(name)
                text.number(value)
            }
            text.raw("}")
        }
        text.raw("}")
        return String(decoding: text.bytes, as: UTF8.self)
    }
}

/// Keeps the readiness report for a second: a check takes a lock or a query of the database, and everybody may ask.
actor ReadinessCache {
    /// How long a report holds.
    static let lifetime = Duration.seconds(1)

    private let collect: @Sendable () async -> ReadinessReport
    private let now: @Sendable () -> ContinuousClock.Instant
    private var last: (report: ReadinessReport, until: ContinuousClock.Instant)?
    private var running: Task<ReadinessReport, Never>?

    /// - Parameter now: the clock; tests bring their own.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        collect: @escaping @Sendable () async -> ReadinessReport
    ) {
        self.collect = collect
        self.now = now
    }

    /// The report of the last second, or a new one. Callers that come while the parts are asked share that answer.
    func report() async -> ReadinessReport {
        if let last, now() < last.until { return last.report }
        if let running { return await running.value }
        let task = Task { await collect() }
        running = task
        // A check ends by its own deadline, so this does too.
        let report = await task.value
        last = (report, now() + Self.lifetime)
        running = nil
        return report
    }
}
