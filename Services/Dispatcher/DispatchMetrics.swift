import Domain
import Logging
import Metrics
import ServiceRuntime
import Synchronization

/// The dispatcher's instruments, kept so that no notification has to look one up.
struct DispatchMetrics: Sendable {
    let settled = Metric.dispatchSettled.counter()
    let unknown = Metric.dispatchUnknown.counter()
    let early = Metric.dispatchEarly.counter()
    let repeated = Metric.dispatchRepeated.counter()
    let redelivered = Metric.redeliveries.counter()
    let skipped = Metric.dispatchSkipped.counter()
    let retries = Metric.dispatchRetries.counter()
    let claimFailures = Metric.dispatchStoreFailures.counter("claim")
    let recordFailures = Metric.dispatchStoreFailures.counter("record")
    let lostLetters = Metric.deadLettersLost.counter()
    let ambiguous = Metric.ambiguous.counter("claimed")
    private let reminders = Metric.reminders.counter()
    private let successes: [Platform: Counter]
    private let unregistered: [Platform: Counter]
    private let withdrawn: [Platform: Counter]
    private let deadLettered: [String: Counter]

    init(platforms: [Platform]) {
        successes = Dictionary(platforms.map { ($0, Metric.hubOutcomes.counter($0.rawValue, "Success")) }) { $1 }
        unregistered = Metric.dispatchUnregistered.counters(platforms)
        withdrawn = Metric.withdrawn.counters(platforms)
        let letters = DeadLetterCause.labels.map { ($0, Metric.deadLettered.counter($0)) }
        deadLettered = Dictionary(letters) { first, _ in first }
    }

    /// Counts sends that were skipped because the recipient has no device on the platform.
    func countUnregistered(_ platforms: [Platform]) {
        for platform in platforms { unregistered[platform]?.increment() }
    }

    /// Counts the outcome in the hub's answer. An outcome that will change is counted later, when the hub is asked for
    /// it.
    func countOutcome(of answer: LaneAnswer, _ platform: Platform) {
        guard case .answered(.sent(_, let outcome?), _) = answer, !MessageOutcome.isOpen(outcome.text) else { return }
        if outcome.text == "Success", let success = successes[platform] { return success.increment() }
        OutcomeMetrics.count(outcome, platform)
    }

    /// Counts the withdrawals and the steps of reminders that the hub has accepted.
    func countFollowUps(_ outcomes: [SettledFollowUp]) {
        for outcome in outcomes {
            switch outcome.outcome.followUp.kind {
            case .withdrawal: for platform in outcome.sent { withdrawn[platform]?.increment() }
            case .reminder: if outcome.isFirstSent { reminders.increment() }
            }
        }
    }

    func countDeadLetters(_ cause: DeadLetterCause, _ messages: Int = 1) {
        deadLettered[cause.label]?.increment(by: messages)
    }
}

/// Why a message is dead-lettered, as the label `reason` tells it.
enum DeadLetterCause: Sendable, Hashable {
    case attempts
    /// The hub refused the request permanently. Without a status, the request could not be written.
    case refused(status: Int?)
    /// The body of the message is not a notification ID; the consumer moves it.
    case body
    /// The row in the store cannot be read, or the store refuses to change it.
    case record
    /// It was given up before, and the broker has delivered the message again: its dead letter may not have been
    /// confirmed.
    case redelivered

    /// The statuses with a label of their own: a peer must not decide how many values a label has.
    private static let ownLabels: Set<Int> = [400, 405, 410, 411, 413, 415]

    /// The label `reason` of `securepush_dead_lettered_total`.
    var label: String {
        switch self {
        case .attempts: "attempts"
        case .refused(let status?): Self.ownLabels.contains(status) ? "http_\(status)" : "http_other"
        case .refused(nil): "invalid"
        case .body: "unreadable"
        case .record: "record"
        case .redelivered: "redelivered"
        }
    }

    static let labels =
        ownLabels.map { "http_\($0)" } + ["attempts", "http_other", "invalid", "unreadable", "record", "redelivered"]
}

struct DeadLetterDraft: Sendable, Hashable {
    var message: DispatchMessage
    /// For operators; never a part of a payload.
    var reason: String
    var cause: DeadLetterCause
}

extension DeadLetterDraft {
    /// The dead letter of a message whose row cannot be read or claimed.
    init(message: DispatchMessage, unreadable error: StorageError) {
        self.init(message: message, reason: "the record cannot be read: \(error.message)", cause: .record)
    }
}

extension StorageError {
    /// The reason for a row that the store refuses to change.
    static func refusedClaim(_ error: StorageError) -> StorageError {
        StorageError(error.code, "The store refuses to claim it: \(error.message)")
    }
}

/// Logs dead letters for operators: the first one of each reason, then one line per minute and reason with the number
/// since the last line.
final class DeadLetterLog: Sendable {
    private struct Entry {
        var logged: ContinuousClock.Instant
        var count = 0
    }

    private static let interval = Duration.seconds(60)

    /// By the metric's label, so that the number of entries is limited.
    private let entries = Mutex<[String: Entry]>([:])
    private let message: Logger.Message
    private let level: Logger.Level
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: the clock; tests have their own.
    init(
        _ message: Logger.Message = "Notifications are dead-lettered", _ level: Logger.Level = .warning,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.message = message
        self.level = level
        self.now = now
    }

    /// Counts a dead letter, and logs it if a line of its reason is due.
    func log(_ letter: DeadLetterDraft, _ logger: Logger) {
        let label = letter.cause.label
        let time = now()
        let count = entries.withLock { entries -> Int? in
            guard var entry = entries[label], entry.logged.duration(to: time) < Self.interval else {
                let count = (entries[label]?.count ?? 0) + 1
                entries[label] = Entry(logged: time)
                return count
            }
            entry.count += 1
            entries[label] = entry
            return nil
        }
        guard let count else { return }
        logger.log(
            level: level, message,
            metadata: [
                "reason": "\(label)", "count": "\(count)", "notification_id": "\(letter.message.id)",
                "error": "\(letter.reason)",
            ])
    }
}
