import Domain

/// One notification as the template shows it.
struct TimelineView: Sendable {
    struct Row: Sendable {
        var mark, kind, platform, text: String
        var at: TimeView
        var hasTime, isAhead: Bool
    }
    struct DeliveryRow: Sendable {
        var platform, mark, stateClass, state, attempts, unanswered, message, outcome, error: String
        var updated: TimeView
    }

    var title = "Notification"
    var isOverview = false
    var id, recipient, sender, status, outbox, claims: String
    var created, expires: TimeView
    var canResend: Bool
    var deliveries: [DeliveryRow]
    var noDeliveries: Bool
    var events: [Row]

    init(_ timeline: NotificationTimeline) {
        (id, recipient, sender, status) = (timeline.id, timeline.recipient, timeline.sender, timeline.status)
        (created, expires) = (TimeView(timeline.createdAt), TimeView(timeline.expiresAt))
        outbox = ["waiting": "waits to be published", "published": "published"][timeline.outbox] ?? "final"
        claims = timeline.claims.formatted
        canResend = timeline.canResend
        deliveries = timeline.deliveries.map { delivery in
            let (mark, name) = Self.look(delivery.state)
            return DeliveryRow(
                platform: delivery.platform, mark: mark, stateClass: name, state: delivery.state,
                attempts: delivery.attempts.formatted, unanswered: (delivery.unanswered ?? 0).formatted,
                message: delivery.hubMessageId ?? "–", outcome: delivery.outcome ?? "–",
                error: delivery.error ?? "–",
                updated: TimeView(delivery.updatedAt))
        }
        noDeliveries = deliveries.isEmpty
        events = timeline.events.map { event in
            Row(
                mark: Self.look(event.kind).mark,
                kind: event.isAhead && event.kind == "expired" ? "expires" : event.kind, platform: event.platform ?? "",
                text: event.text,
                at: TimeView(event.at), hasTime: event.at != nil, isAhead: event.isAhead)
        }
    }

    /// A sign and a class: the state is never shown by colour alone.
    private static func look(_ state: String) -> (mark: String, name: String) {
        switch state {
        case "sent", "read", "shown": ("✓", "good")
        case "dead", "revoked", "expired": ("✕", "bad")
        case "retrying", "waiting", "pending": ("…", "warn")
        default: ("•", "plain")
        }
    }
}

/// The dead letters as the template shows them.
struct DeadLettersView: Sendable {
    struct Row: Sendable {
        var id, short, reason, platforms, bytes: String
        var isReadable: Bool
        var accepted: TimeView
    }

    var title = "Dead letters"
    var isOverview = false
    var total, shown: String
    var isEmpty: Bool
    var rows: [Row]

    init(_ report: DeadLetterReport) {
        total = report.total.formatted
        shown = report.deadLetters.count.formatted
        isEmpty = report.deadLetters.isEmpty
        rows = report.deadLetters.map { letter in
            Row(
                id: letter.id ?? "", short: letter.id?.shortID ?? "unreadable",
                reason: FailureKey.normal(letter.reason),
                platforms: letter.platforms?.joined(separator: ", ") ?? "all that are owed",
                bytes: letter.bytes.formatted, isReadable: letter.id != nil, accepted: TimeView(letter.acceptedAt))
        }
    }
}
