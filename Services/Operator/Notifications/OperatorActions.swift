import Domain
import Foundations
import Logging

/// The changes that an operator can make from the page. Each is bounded, and logged at `notice`.
struct OperatorActions: Sendable {
    /// The most notifications that one request resends.
    static let maxResent = 500
    /// The most failed notifications that one request examines.
    static let maxExamined = 10_000
    /// The most pages that one request reads. Even a page without a failure examines ``NotificationCensus/maxScan``
    /// rows.
    static let maxPages = 20
    /// The most dead letters that one request replays, and that it reads.
    static let maxReplayed = 1000
    static let maxRead = 20_000
    /// The most dead letters in one list.
    static let maxListed = 100

    private let store: any OperatorStore & SenderNotifications
    private let deadLetters: DeadLetterAccess
    private let logger: Logger

    /// - Parameter openDeadLetters: opens the dead-letter queue.
    init(
        store: any OperatorStore & SenderNotifications,
        openDeadLetters: @escaping @Sendable () async throws -> any DeadLetterQueue, logger: Logger
    ) {
        self.store = store
        deadLetters = DeadLetterAccess(open: openDeadLetters)
        self.logger = logger
    }

    /// Sends again the notifications that failed for a reason, newest first, and removes their dead letters.
    ///
    /// - Parameters:
    ///   - before: only notifications that are older than this one: ``ResendReport/next`` of the request before.
    ///   - trace: of the request; `nil` for a trace of each notification's own.
    func resend(
        _ reason: String, _ window: TimeWindow, before: NotificationID? = nil, trace: TraceContext?,
        now: Timestamp = .now
    ) async throws -> ResendReport {
        let report = try await removingLetters { resent in
            try await resend(reason, window, before, trace, now, &resent)
        }
        logger.notice(
            "An operator sent failed notifications again",
            metadata: ["reason": "\(reason)", "resent": "\(report.resent)"])
        return report
    }

    private func resend(
        _ reason: String, _ window: TimeWindow, _ before: NotificationID?, _ trace: TraceContext?, _ now: Timestamp,
        _ resent: inout [NotificationID]
    ) async throws -> ResendReport {
        var report = ResendReport()
        var before = before
        var (examined, pages) = (0, 0)
        search: repeat {
            pages += 1
            let page = try await store.page(
                OperatorQuery(
                    onlyFailed: true, since: now - window.duration, before: before, limit: OperatorDirectory.maxFailed))
            for entry in page.entries {
                let isMatch = entry.record.deliveries.contains { $0.state == .dead && FailureReason.of($0) == reason }
                if isMatch {
                    if report.resent == Self.maxResent { break search }
                    report.count(try await resend(entry.record.id, sender: entry.sender, trace, &resent))
                }
                before = entry.record.id
            }
            examined += page.entries.count
            before = page.next
        } while before != nil && examined < Self.maxExamined && pages < Self.maxPages && !Task.isCancelled
        // Expired notifications and those with another reason stay, so a request without it would meet them again.
        report.next = before?.description
        report.hasMore = before != nil
        return report
    }

    /// Sends one notification again where it failed, and removes its dead letters.
    ///
    /// - Parameter trace: of the request; `nil` for one of its own.
    /// - Returns: `nil` for an unknown ID.
    func resend(_ id: NotificationID, trace: TraceContext?) async throws -> ResendReport? {
        guard let life = try await store.life(of: id) else { return nil }
        let report = try await removingLetters(of: [id]) { resent in
            var report = ResendReport()
            report.count(try await resend(id, sender: life.sender, trace, &resent))
            return report
        }
        logger.notice(
            "An operator sent a notification again",
            metadata: ["notification.id": "\(id)", "resent": "\(report.resent)"])
        return report
    }

    /// The first trace ended with the failure, so it has that of the request, or a new one.
    private func resend(
        _ id: NotificationID, sender: String, _ trace: TraceContext?, _ resent: inout [NotificationID]
    ) async throws -> ReplayDecision? {
        let decision = try await store.resend(
            id, sender: sender, now: .now, publishedBy: .relay(traceparent: (trace ?? .random()).traceparent))
        if case .owed = decision { resent.append(id) }
        return decision
    }

    /// Holds the dead letters during a resend, and removes those of notifications that were sent again: a replay of
    /// them would find no delivery to make. The resend needs no broker; without one the letters stay.
    ///
    /// - Parameters:
    ///   - ids: the notifications that can be sent again, if they are known.
    ///   - resend: appends the notifications that it sent again.
    private func removingLetters(
        of ids: Set<NotificationID>? = nil,
        _ resend: @Sendable (inout [NotificationID]) async throws -> ResendReport
    ) async throws -> ResendReport {
        @Sendable func report(removing remove: ([NotificationID]) async throws -> Int) async throws -> ResendReport {
            var resent: [NotificationID] = []
            var report = try await resend(&resent)
            do { report.lettersRemoved = try await remove(resent) } catch { report.lettersProblem = "\(error)" }
            return report
        }
        let result: Result<ResendReport, any Error>
        do {
            result = try await deadLetters.change { queue in
                let letters = try await HeldDeadLetters(of: ids, in: queue, reading: Self.maxRead)
                do { return .success(try await report { try await letters.remove(of: $0) }) } catch {
                    return .failure(error)
                }
            }
        } catch let error where !(error is CancellationError) {
            return try await report { _ in throw error }
        }
        return try result.get()
    }

    /// The oldest dead letters, by notification.
    func deadLetters(limit: Int) async throws -> DeadLetterReport {
        let (letters, total) = try await deadLetters.oldest(limit)
        let records = try await store.records(letters.compactMap { $0.message?.id })
        return DeadLetterReport(letters, total: total, records: records)
    }

    /// Replays dead letters: those of some notifications, or all, or all with a reason.
    func replay(ids: Set<NotificationID>?, reason: String?) async throws -> ReplayReport {
        let report = try await deadLetters.change { [store] queue in
            // Ingest's relay publishes the deliveries that are reopened.
            let replay = DeadLetterReplay(queue: queue, store: store, publisher: nil)
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
    /// Dead letters of notifications that were sent again.
    var lettersRemoved = 0
    /// Why dead letters may still be in the queue.
    var lettersProblem: String?
    /// Whether there may be more of the kind, older than ``next``.
    var hasMore = false
    /// Where the next request has to begin; `nil` if nothing is left to be examined.
    var next: String?

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
    /// Requested by ID, but not among the dead letters that were examined.
    var notFound: Int
    /// Whether some dead letters were not examined.
    var hasMore: Bool

    init(_ report: ReplayReport) {
        (replayed, dropped, left) = (report.replayed, report.dropped, report.left)
        (notFound, hasMore) = (report.notFound, report.hasMore)
    }
}
