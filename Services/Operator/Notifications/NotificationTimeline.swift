import Domain
import Foundations

/// The answer of `GET /admin/api/notifications/{id}`: everything on record of one notification, and its events in the
/// order of their times. Never a payload or an alert's text.
struct NotificationTimeline: Encodable, Sendable {
    struct Event: Encodable, Sendable {
        /// Missing if the time is not on record.
        var at: String?
        /// `accepted`, `scheduled`, `published`, `waiting`, `pending`, `retrying`, `sent`, `dead`, `skipped`,
        /// `withdrawn`, `reminded`, `shown`, `read`, `answered`, `answer-failed`, `revoked`, `expired`.
        var kind: String
        var platform: String?
        /// A sentence for a person.
        var text: String
        /// Whether it lies in the future.
        var isAhead: Bool
    }

    /// The state of the notification, in a sentence.
    struct Verdict: Encodable, Sendable, Equatable {
        /// `warn` while it is under way.
        var level: Trouble.Level
        var text: String
    }

    var id: String
    var recipient: String
    var sender: String
    var status: String
    var verdict: Verdict
    var createdAt: String
    var expiresAt: String
    var notBefore: String?
    var readAt: String?
    var shownAt: String?
    var revokedAt: String?
    /// The answer that its recipient has given.
    var answer: String?
    /// Claims by dispatchers.
    var claims: Int
    /// `waiting`, `published` or `none`.
    var outbox: String
    /// ``outbox`` for a person.
    var outboxText: String
    var canResend: Bool
    var deliveries: [DeliveryReport]
    var events: [Event]
}

extension NotificationTimeline {
    init(_ life: NotificationLife, platforms served: [Platform], now: Timestamp) {
        let record = life.record
        let status = record.status(at: now)
        let known = record.deliveries
        let isOwed = record.dispatchStatus == .accepted || record.dispatchStatus == .queued
        let untried =
            isOwed && record.revokedAt == nil && record.expiresAt > now
            ? (record.platforms ?? served).filter { platform in !known.contains { $0.platform == platform } } : []
        let (outbox, outboxText) =
            switch life.outbox {
            case .waiting: ("waiting", "waits to be published")
            case .published: ("published", "published to the broker")
            case .none: ("none", "nothing left to publish")
            }
        self.init(
            id: record.id.description, recipient: record.recipient.text, sender: life.sender, status: status.rawValue,
            verdict: Verdict(record, isOwed: isOwed, now: now), createdAt: record.createdAt.description,
            expiresAt: record.expiresAt.description,
            notBefore: record.notBefore?.description, readAt: record.readAt?.description,
            shownAt: record.shownAt?.description, revokedAt: record.revokedAt?.description,
            answer: record.answer?.action, claims: life.attempt,
            outbox: outbox, outboxText: outboxText,
            canResend: known.contains { $0.state == .dead } && record.revokedAt == nil && record.expiresAt > now,
            deliveries: (known
                + untried.map { Delivery(platform: $0, state: .pending, updatedAt: record.createdAt) })
                .map { DeliveryReport($0, tellsUnanswered: true) },
            events: TimelineEvents(life, untried: untried, now: now).sorted)
    }
}

extension NotificationTimeline.Verdict {
    /// - Parameter isOwed: whether a push is still to be tried.
    fileprivate init(_ record: NotificationRecord, isOwed: Bool, now: Timestamp) {
        let dead = record.deliveries.filter { $0.state == .dead }
        let hasPush = record.deliveries.contains { $0.state == .sent }
        let reason = dead.first.map { ": " + FailureReason.of($0) } ?? ""
        let names = dead.map(\.platform.rawValue).joined(separator: ", ")
        let (level, text): (Trouble.Level, String) =
            if record.revokedAt != nil {
                (.good, "The sender has revoked it.")
            } else if record.answer == .failed {
                (.bad, "Nobody can answer it any more: too many challenges were wrong.")
            } else if let action = record.answer?.action {
                (.good, "Its recipient has answered: \(action).")
            } else if record.readAt != nil {
                (.good, "Its recipient has read it.")
            } else if record.expiresAt <= now {
                (.bad, "It has expired unread.")
            } else if let time = record.notBefore, time > now, isOwed {
                (.good, "It waits for its time.")
            } else if isOwed {
                dead.isEmpty
                    ? (.warn, "Its push is under way.")
                    : (.warn, "Its push failed on \(names)\(reason); other platforms are under way.")
            } else if dead.isEmpty {
                hasPush
                    ? (.good, record.shownAt == nil ? "The hub has accepted its push." : "A device has shown it.")
                    : (.warn, "Nothing was pushed; devices find it when they ask.")
            } else {
                (hasPush ? .warn : .bad, "Its push failed on \(names)\(reason).")
            }
        self.init(level: level, text: text)
    }
}

/// Makes the events of a notification from its record.
private struct TimelineEvents {
    private var events: [(order: Int64, event: NotificationTimeline.Event)] = []
    private let now: Timestamp

    init(_ life: NotificationLife, untried: [Platform], now: Timestamp) {
        self.now = now
        let record = life.record
        add("accepted", at: record.createdAt, "Accepted and stored with its outbox entry.")
        if let time = record.notBefore { add("scheduled", at: time, "Not sent before this time.") }
        publishing(life, untried: untried)
        for delivery in record.deliveries { add(delivery) }
        if let reminders = record.reminders {
            if reminders.sent > 0 { add("reminded", at: nil, "Reminders sent: \(reminders.sent).") }
            if let next = reminders.next { add("reminded", at: next, "The next reminder is due.") }
        }
        if let time = record.shownAt { add("shown", at: time, "A device has shown it.") }
        if let time = record.readAt { add("read", at: time, "A device has read it.") }
        switch record.answer {
        case nil: break
        case .failed: add("answer-failed", at: nil, "Too many challenges were wrong; nobody can answer any more.")
        case .given(let answer):
            let device = answer.deviceID.map { ", by the device \($0)" } ?? ""
            add("answered", at: answer.at, "Its recipient has answered \(answer.action)\(device).")
        }
        if let time = record.revokedAt {
            add("revoked", at: time, "The sender has revoked it; its payload is destroyed.")
        }
        if record.revokedAt == nil {
            add("expired", at: record.expiresAt, record.expiresAt <= now ? "It has expired." : "It expires.")
        }
    }

    /// By time; events without one stand where they were added.
    var sorted: [NotificationTimeline.Event] {
        events.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
            .map(\.element.event)
    }

    private mutating func publishing(_ life: NotificationLife, untried: [Platform]) {
        switch life.outbox {
        case .waiting(let due):
            add("waiting", at: due, "Due to be published to the broker.")
        case .published:
            add("published", at: nil, "The broker has it; dispatchers have claimed it \(times(life.attempt)).")
        case .none:
            if life.attempt > 0 { add("published", at: nil, "The broker had it; a dispatcher has taken it.") }
        }
        for platform in untried { add("pending", at: nil, "Not tried yet.", platform) }
    }

    private mutating func add(_ delivery: Delivery) {
        let error = delivery.error.map { ": \(FailureReason.normal($0))." } ?? "."
        let tries = "\(delivery.attempts) \(delivery.attempts == 1 ? "attempt" : "attempts")"
        let text =
            switch delivery.state {
            case .sent:
                if let shared = delivery.coalescedInto {
                    "It shared the push of \(shared)."
                } else {
                    "The hub accepted it after \(tries)." + (delivery.outcome.map { " Its outcome: \($0)." } ?? "")
                }
            case .dead: "Dead after \(tries)" + error
            case .retrying: "It is tried again after \(tries)" + error
            case .pending: "It is owed" + error
            case .skipped: "Not sent" + error
            }
        add(delivery.state.rawValue, at: delivery.updatedAt, text, delivery.platform)
        if delivery.unanswered > 0 {
            add(
                "retrying", at: delivery.updatedAt,
                "\(delivery.unanswered) requests had no answer; the hub may have accepted them.", delivery.platform)
        }
        if let time = delivery.withdrawnAt {
            add("withdrawn", at: time, "The hub accepted the withdrawal.", delivery.platform)
        }
    }

    private mutating func add(_ kind: String, at time: Timestamp?, _ text: String, _ platform: Platform? = nil) {
        let order = time?.milliseconds ?? events.last?.order ?? 0
        events.append(
            (
                order,
                NotificationTimeline.Event(
                    at: time?.description, kind: kind, platform: platform?.rawValue, text: text,
                    isAhead: time.map { $0 > now } ?? false)
            ))
    }

    private func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
}
