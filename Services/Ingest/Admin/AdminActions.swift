import Logging
import SecurePushCore

/// The changes that an operator can make from the page. Each is bounded, and logged at `notice`.
struct AdminActions: Sendable {
    /// Notifications that one request sends again at most.
    static let maxResent = 500
    /// Failed notifications that one request examines at most.
    static let maxExamined = 10_000
    /// Dead letters that one request replays, and that it reads, at most.
    static let maxReplayed = 1000
    static let maxRead = 20_000
    /// Dead letters in one list at most.
    static let maxListed = 100

    let store: any AllNotifications & SenderNotifications & DeadLetterStore
    let publisher: any DispatchPublisher
    /// Opens the dead-letter queue.
    let openDeadLetters: @Sendable () async throws -> any DeadLetterQueue
    /// Publishes an entry of the outbox.
    let handOver: @Sendable (OutboxEntry) -> Void
    let logger: Logger

    /// Sends again what failed on a platform for a reason.
    ///
    /// - Parameter trace: of the request; `nil` for a trace of each notification's own.
    func resend(
        _ key: FailureKey, _ window: AdminWindow, trace: TraceContext?, now: Timestamp = .now
    ) async throws -> ResendReport {
        var report = ResendReport()
        var before: NotificationID?
        var examined = 0
        search: repeat {
            let page = try await store.page(
                OperatorQuery(
                    onlyFailed: true, since: now - window.duration, before: before, limit: AdminDirectory.maxFailed))
            for entry in page.entries {
                let isMatch = entry.record.deliveries.contains { $0.state == .dead && FailureKey($0) == key }
                guard isMatch else { continue }
                if report.resent == Self.maxResent {
                    report.hasMore = true
                    break search
                }
                report.count(try await resend(entry.record.id, sender: entry.sender, trace))
            }
            examined += max(page.entries.count, 1)
            before = page.next
            if before != nil, examined >= Self.maxExamined { report.hasMore = true }
        } while before != nil && examined < Self.maxExamined && !Task.isCancelled
        logger.notice(
            "An operator sent failed notifications again",
            metadata: ["platform": "\(key.platform)", "reason": "\(key.reason)", "resent": "\(report.resent)"])
        return report
    }

    /// Sends one notification again where it failed.
    ///
    /// - Parameter trace: of the request; `nil` for one of its own.
    /// - Returns: `nil` for an unknown ID.
    func resend(_ id: NotificationID, trace: TraceContext?) async throws -> ResendReport? {
        guard let life = try await store.life(of: id) else { return nil }
        var report = ResendReport()
        report.count(try await resend(id, sender: life.sender, trace))
        logger.notice(
            "An operator sent a notification again",
            metadata: ["notification.id": "\(id)", "resent": "\(report.resent)"])
        return report
    }

    private func resend(
        _ id: NotificationID, sender: String, _ trace: TraceContext?
    ) async throws -> ReplayDecision? {
        let decision = try await store.resend(id, sender: sender, now: .now)
        if case .owed? = decision {
            // The first trace ended with the failure.
            handOver(OutboxEntry(id: id, traceparent: (trace ?? .random()).traceparent))
        }
        return decision
    }

    /// The oldest dead letters. Reading them removes nothing; for that moment other readers find the queue empty.
    func deadLetters(limit: Int) async throws -> DeadLetterReport {
        try await withDeadLetters { queue in
            let (letters, total) = try await DeadLetterScan(queue: queue).letters(limit) { _ in true }
            return DeadLetterReport(total: total, deadLetters: letters.map(DeadLetterReport.Item.init))
        }
    }

    /// Replays dead letters: those of some notifications, or all, or all with a reason.
    func replay(ids: Set<NotificationID>?, reason: String?) async throws -> ReplayReport {
        let report = try await withDeadLetters { queue in
            let replay = DeadLetterReplay(queue: queue, store: store, publisher: publisher)
            return try await replay.run(ids: ids, limit: Self.maxReplayed, examining: Self.maxRead) { letter in
                reason.map { letter.reason == $0 } ?? true
            }
        }
        logger.notice(
            "An operator replayed dead letters",
            metadata: [
                "replayed": "\(report.replayed)", "left": "\(report.left)", "not_found": "\(report.notFound)",
            ])
        return report
    }

    private func withDeadLetters<Value: Sendable>(
        _ body: (any DeadLetterQueue) async throws -> Value
    ) async throws -> Value {
        let queue = try await openDeadLetters()
        do {
            let value = try await body(queue)
            await queue.close()
            return value
        } catch {
            await queue.close()
            throw error
        }
    }
}

/// The answer to a request to send failed notifications again.
struct ResendReport: Encodable, Sendable, Equatable {
    var resent = 0
    /// Nothing was owed any more.
    var settled = 0
    /// The payload is gone.
    var expired = 0
    var revoked = 0
    /// The record cannot be read, or is gone.
    var unreadable = 0
    /// Whether there may be more of the kind: repeat the request.
    var hasMore = false

    mutating func count(_ decision: ReplayDecision?) {
        switch decision {
        case .owed: resent += 1
        case .settled: settled += 1
        case .expired: expired += 1
        case .revoked: revoked += 1
        case .unreadable, nil: unreadable += 1
        }
    }
}

/// The answer of `POST /admin/api/dead-letters/replay`.
struct ReplayAnswer: Encodable, Sendable {
    var replayed: Int
    var dropped: Int
    /// Selected, but still in the queue.
    var left: Int
    var notFound: Int
    /// Why the broker did not confirm a message; the rest was not tried.
    var failure: String?

    init(_ report: ReplayReport) {
        (replayed, dropped, left) = (report.replayed, report.dropped, report.left)
        (notFound, failure) = (report.notFound, report.failure)
    }
}

/// The answer of `GET /admin/api/dead-letters`.
struct DeadLetterReport: Encodable, Sendable {
    struct Item: Encodable, Sendable {
        /// The notification; missing if the message cannot be read.
        var id: String?
        var acceptedAt: String?
        var reason: String
        /// Missing for all platforms.
        var platforms: [String]?
        /// The length of the message.
        var bytes: Int

        init(_ letter: DeadLetter) {
            id = letter.message?.id.description
            acceptedAt = letter.message?.id.timestamp.description
            reason = String(letter.reason.prefix(500))
            platforms = letter.message?.platforms?.map(\.rawValue)
            bytes = letter.byteCount
        }
    }

    /// In the queue.
    var total: Int
    /// The oldest of them.
    var deadLetters: [Item]
}
