/// A message in the broker: the ID of a notification, and on a retry the remaining work. It holds nothing of the
/// payload or the recipient.
package struct DispatchMessage: Sendable, Hashable {
    /// The valid values of ``attempt``. A message with another value is dead-lettered unread.
    package static let attempts = 1...1000
    /// The maximum length of a body in bytes. A longer one is dead-lettered unread. An ID has 36 bytes.
    package static let maxBodyBytes = 1024
    /// The maximum length of the properties and headers in bytes on the wire. A longer one is dead-lettered unread.
    /// Ours have less than 1 KiB, with those that a broker adds to messages of the delay queues.
    package static let maxHeaderBytes = 8192

    package var id: NotificationID
    /// The platforms that are still owed; `nil` on the first delivery, when all are.
    package var platforms: [Platform]?
    /// The number of the retry, one of ``attempts``; `nil` on the first delivery.
    package var attempt: Int?
    /// The trace of the notification (``TraceContext``). The broker's adapter creates one if there is none.
    package var traceparent: String?
    /// The follow-up that is due; `nil` for the notification's own push.
    package var kind: FollowUp.Kind?
    /// Whether this is the first message of a notification whose row has the first attempt claimed
    /// (``SealedNotification/claimsFirstAttempt``). Such a message is published once and never again: whoever gets it
    /// undelivered owns the first attempt.
    package var isFirst: Bool

    package init(
        id: NotificationID, platforms: [Platform]? = nil, attempt: Int? = nil, traceparent: String? = nil,
        kind: FollowUp.Kind? = nil, isFirst: Bool = false
    ) {
        self.id = id
        self.platforms = platforms
        self.attempt = attempt
        self.traceparent = traceparent
        self.kind = kind
        self.isFirst = isFirst
    }

    /// The follow-up that the message asks for.
    package var followUp: FollowUp? { kind.map { FollowUp(id: id, kind: $0) } }

    /// The number of the next retry, limited to the last of ``attempts``.
    package var nextAttempt: Int {
        min(max(attempt ?? 0, 0), Self.attempts.upperBound - 1) + 1
    }
}

/// The destination of a message.
package enum DispatchRoute: Sendable, Hashable {
    case dispatch
    /// The delay queue at this index of `RETRY_DELAYS`, and from there the dispatchers.
    case retry(delay: Int)
    /// The dead-letter queue, with the reason in its header.
    case dead(reason: String)
}

/// A message as a dispatcher received it.
package struct DispatchDelivery: Sendable {
    /// The broker's number of the delivery, unique within ``epoch``.
    package var tag: UInt64
    /// The channel that the tag belongs to. A settlement of an earlier epoch has no effect, because the broker has
    /// requeued the message.
    package var epoch: UInt64
    /// The message; `nil` if it could not be read (a poison message).
    package var message: DispatchMessage?
    /// Whether the broker has delivered it before.
    package var isRedelivered: Bool

    package init(tag: UInt64, epoch: UInt64, message: DispatchMessage?, isRedelivered: Bool = false) {
        self.tag = tag
        self.epoch = epoch
        self.message = message
        self.isRedelivered = isRedelivered
    }

    /// Whether its dispatcher owns the first attempt of the notification: nobody can have got the message before.
    package var ownsFirstAttempt: Bool { !isRedelivered && message?.isFirst == true }
}

/// The delays between attempts, one delay queue each (`RETRY_DELAYS`).
package struct RetryDelays: Sendable, Hashable {
    /// The delays in the order of the attempts: at least one, each positive.
    package let delays: [Duration]

    /// 1 s, 5 s, 30 s, 2 min and 10 min.
    package static let standard = RetryDelays([.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(600)])

    /// - Precondition: `delays` is not empty.
    package init(_ delays: [Duration]) {
        precondition(!delays.isEmpty, "There must be a delay to retry after.")
        self.delays = delays
    }

    /// The index of the delay before a retry.
    ///
    /// - Parameters:
    ///   - attempt: the number of the retry, from 1. After the last delay the last one repeats.
    ///   - atLeast: the hub's `Retry-After`. The shortest delay that is long enough is chosen, or the longest of all.
    package func index(beforeRetry attempt: Int, atLeast: Duration? = nil) -> Int {
        let planned = min(max(attempt, 1), delays.count) - 1
        guard let atLeast, delays[planned] < atLeast else { return planned }
        let longEnough = delays.indices.filter { delays[$0] >= atLeast }.min { delays[$0] < delays[$1] }
        return longEnough ?? delays.indices.max { delays[$0] < delays[$1] } ?? planned
    }
}
