import Foundations

/// Dispatches dead letters again: reopens the record in the store, publishes the message, waits for the broker's
/// confirm, and only then removes the dead letter. A crash in between leaves the dead letter; it can be replayed again.
///
/// Without a publisher the record's outbox entry is due at once, and ingest's relay publishes it: who replays then
/// needs no right to publish.
package struct DeadLetterReplay: Sendable {
    private let queue: any DeadLetterQueue
    private let store: any OperatorStore
    private let publisher: (any DispatchPublisher)?
    /// Whether to remove dead letters of unknown, expired and revoked notifications.
    private let drops: Bool
    private let progress: @Sendable (_ done: Int, _ total: Int) -> Void
    /// Called with the result of each selected dead letter.
    private let report: @Sendable (ReplayItem) async throws -> Void

    /// - Parameters:
    ///   - drops: whether to remove dead letters of unknown, expired and revoked notifications, and of follow-ups.
    ///   - progress: called after each dead letter that was read.
    ///   - report: called with the result of each selected dead letter.
    package init(
        queue: any DeadLetterQueue, store: any OperatorStore, publisher: (any DispatchPublisher)?, drops: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in },
        report: @escaping @Sendable (ReplayItem) async throws -> Void = { _ in }
    ) {
        self.queue = queue
        self.store = store
        self.publisher = publisher
        self.drops = drops
        self.progress = progress
        self.report = report
    }

    /// Dead letters that are reopened and published together.
    package static let batchSize = 200

    /// A dead letter that cannot be replayed stays where it is, at the front of the queue as well. Therefore only those
    /// that were replayed count towards the limit: the next run would meet the others again.
    ///
    /// - Parameters:
    ///   - ids: only these notifications; `nil` for all that the selection includes.
    ///   - limit: how many dead letters are replayed at most, 1 or more; the rest stays as it is.
    ///   - examining: how many dead letters are read at most.
    /// - Throws: an error of the queue or the store. A broker that does not confirm is ``ReplayReport/failure``.
    package func run(
        ids: Set<NotificationID>?, limit: Int = .max, examining: Int = .max,
        _ selection: @Sendable (DeadLetter) -> Bool
    ) async throws -> ReplayReport {
        var result = ReplayReport()
        var batch: [DeadLetter] = []
        var found: Set<NotificationID> = []
        var (examined, isOver) = (0, false)
        let total = try await DeadLetterScan(queue: queue, progress: progress).run { letter in
            examined += 1
            isOver = examined >= examining
            guard selection(letter) else { return !isOver }
            guard let id = letter.message?.id else {
                if ids == nil { try await record(ReplayItem(letter, .unreadable), &result) }
                return !isOver
            }
            if let ids, !ids.contains(id) { return !isOver }
            // Two dead letters of one notification go into separate batches: the first one changes the record.
            if batch.contains(where: { $0.message?.id == id }) {
                try await replay(batch, &result)
                batch = []
            }
            found.insert(id)
            batch.append(letter)
            if result.failure == nil, batch.count >= min(Self.batchSize, limit - result.replayed) {
                try await replay(batch, &result)
                batch = []
            }
            isOver = isOver || result.failure != nil || result.replayed >= limit
            return !isOver
        }
        if result.failure == nil, !batch.isEmpty { try await replay(batch, &result) }
        result.hasMore = isOver && examined < total
        for id in (ids ?? []).subtracting(found).sorted() where result.failure == nil {
            try await record(ReplayItem(id: id.description, result: .notFound), &result)
        }
        return result
    }

    private func replay(_ letters: [DeadLetter], _ result: inout ReplayReport) async throws {
        var messages: [(DeadLetter, DispatchMessage)] = []
        for letter in letters {
            guard let message = letter.message else { continue }
            // A withdrawal or a reminder ended with its dead letter. It must not reopen the notification's push.
            if message.kind != nil {
                try await leaveOrDrop(letter, .settled, &result)
            } else {
                messages.append((letter, message))
            }
        }
        let named = Dictionary(messages.map { ($1.id, $1.platforms ?? []) }) { first, _ in first }
        let reopened = try await store.reopen(
            named, now: .now, publishedBy: publisher == nil ? .relay(traceparent: nil) : .caller)
        var replayable: [(letter: DeadLetter, message: DispatchMessage)] = []
        for (letter, message) in messages {
            switch reopened[message.id] {
            case .owed(let platforms):
                let next = DispatchMessage(
                    id: message.id, platforms: platforms.isEmpty ? nil : platforms, traceparent: message.traceparent)
                replayable.append((letter, next))
            // Another action has ended the failure, such as the sender's resend: the letter says nothing any more.
            case .settled: try await leaveOrDrop(letter, .settled, drops: true, &result)
            case .expired: try await leaveOrDrop(letter, .expired, &result)
            case .revoked: try await leaveOrDrop(letter, .revoked, &result)
            case .unreadable: try await record(ReplayItem(letter, .recordUnreadable), &result)
            case nil: try await leaveOrDrop(letter, .unknown, &result)
            }
        }
        guard !replayable.isEmpty else { return }
        let confirms =
            await publisher?.publish(replayable.map(\.message), to: .dispatch)
            ?? replayable.map { _ in .success(()) }
        for ((letter, message), confirm) in zip(replayable, confirms) {
            switch confirm {
            case .success:
                try await queue.remove(letter)
                try await record(ReplayItem(letter, .replayed, platforms: message.platforms), &result)
            case .failure(let error):
                result.failure = error.message
                try await record(ReplayItem(letter, .failed, platforms: message.platforms), &result)
            }
        }
    }

    private func leaveOrDrop(
        _ letter: DeadLetter, _ why: ReplayItem.Outcome, drops: Bool? = nil, _ result: inout ReplayReport
    ) async throws {
        let drops = drops ?? self.drops
        if drops { try await queue.remove(letter) }
        try await record(ReplayItem(letter, why, isDropped: drops), &result)
    }

    private func record(_ item: ReplayItem, _ result: inout ReplayReport) async throws {
        result.count(item)
        try await report(item)
    }
}

/// The result of one dead letter.
package struct ReplayItem: Encodable, Sendable, Equatable {
    /// What became of it.
    package enum Outcome: String, Encodable, Sendable {
        /// Its notification is dispatched again.
        case replayed
        /// The broker did not confirm the message. The dead letter stays in the queue.
        case failed
        /// The store does not have the notification.
        case unknown
        case expired
        /// The sender has revoked the notification.
        case revoked
        /// The notification is final on every platform, or the dead letter is that of a withdrawal or reminder.
        case settled
        /// The body is not a notification ID.
        case unreadable
        /// The notification's record in the store cannot be read.
        case recordUnreadable = "record-unreadable"
        /// The notification has no dead letter among those that were examined.
        case notFound = "not-found"
    }

    /// The notification; `nil` if the dead letter cannot be read.
    package var id: String?
    package var result: Outcome
    /// The platforms to which it is dispatched again; `nil` for all that are owed.
    package var platforms: [String]?
    /// Whether the dead letter was removed without a replay.
    package var dropped: Bool?

    package init(id: String?, result: Outcome, platforms: [Platform]? = nil, isDropped: Bool = false) {
        self.id = id
        self.result = result
        self.platforms = platforms?.map(\.rawValue)
        dropped = isDropped ? true : nil
    }

    init(_ letter: DeadLetter, _ result: Outcome, platforms: [Platform]? = nil, isDropped: Bool = false) {
        self.init(
            id: letter.message?.id.description, result: result, platforms: platforms, isDropped: isDropped)
    }
}

package struct ReplayReport: Encodable, Sendable, Equatable {
    /// Dispatched again.
    package var replayed = 0
    /// Removed without a replay.
    package var dropped = 0
    /// Selected, but still in the queue.
    package var left = 0
    /// Requested by ID, but not among the dead letters that were examined.
    package var notFound = 0
    /// Why the broker did not confirm a message. The rest was not tried.
    package var failure: String?
    /// Whether some dead letters were not examined. It is not encoded: the command line has no limit.
    package var hasMore = false

    package init(
        replayed: Int = 0, dropped: Int = 0, left: Int = 0, notFound: Int = 0, failure: String? = nil,
        hasMore: Bool = false
    ) {
        self.replayed = replayed
        self.dropped = dropped
        self.left = left
        self.notFound = notFound
        self.failure = failure
        self.hasMore = hasMore
    }

    private enum CodingKeys: CodingKey { case replayed, dropped, left, notFound }

    mutating func count(_ item: ReplayItem) {
        switch item.result {
        case .replayed: replayed += 1
        case .notFound: notFound += 1
        default: if item.dropped == true { dropped += 1 } else { left += 1 }
        }
    }
}
