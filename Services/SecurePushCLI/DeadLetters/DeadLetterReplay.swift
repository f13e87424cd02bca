import SecurePushCore

/// Dispatches dead letters again: reopens the record in the store, publishes the message, waits for the broker's
/// confirm, and only then removes the dead letter. A crash in between leaves the dead letter; it can be replayed again.
struct DeadLetterReplay: Sendable {
    let queue: any DeadLetterQueue
    let store: any DeadLetterStore
    let publisher: any DispatchPublisher
    /// Whether to remove dead letters of unknown, expired, revoked and final notifications.
    var drops = false
    var progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    /// Called with the result of each selected dead letter.
    var report: @Sendable (ReplayItem) async throws -> Void = { _ in }

    /// Dead letters that are reopened and published together.
    static let batchSize = 200

    /// - Parameter ids: only these notifications; `nil` for all that the selection includes.
    func run(
        ids: Set<NotificationID>?, _ selection: @Sendable (DeadLetter) -> Bool
    ) async throws -> ReplayReport {
        var result = ReplayReport()
        var batch: [DeadLetter] = []
        var found: Set<NotificationID> = []
        try await DeadLetterScan(queue: queue, progress: progress).run { letter in
            guard selection(letter) else { return true }
            guard let id = letter.message?.id else {
                if ids == nil { try await record(ReplayItem(letter, .unreadable), &result) }
                return true
            }
            if let ids, !ids.contains(id) { return true }
            // Two dead letters of one notification go into separate batches: the first one changes the record.
            if batch.count == Self.batchSize || batch.contains(where: { $0.message?.id == id }) {
                try await replay(batch, &result)
                batch = []
            }
            found.insert(id)
            batch.append(letter)
            return result.failure == nil
        }
        if result.failure == nil { try await replay(batch, &result) }
        for id in (ids ?? []).subtracting(found).sorted() where result.failure == nil {
            try await record(ReplayItem(id: id.description, result: .notFound), &result)
        }
        return result
    }

    private func replay(_ letters: [DeadLetter], _ result: inout ReplayReport) async throws {
        let messages = letters.compactMap { letter in letter.message.map { (letter, $0) } }
        let named = Dictionary(messages.map { ($1.id, $1.platforms ?? []) }) { first, _ in first }
        let reopened = try await store.reopen(named, now: .now)
        var replayable: [(letter: DeadLetter, message: DispatchMessage)] = []
        for (letter, message) in messages {
            switch reopened[message.id] {
            case .owed(let platforms):
                let next = DispatchMessage(
                    id: message.id, platforms: platforms.isEmpty ? nil : platforms, traceparent: message.traceparent)
                replayable.append((letter, next))
            case .settled: try await leaveOrDrop(letter, .settled, &result)
            case .expired: try await leaveOrDrop(letter, .expired, &result)
            case .revoked: try await leaveOrDrop(letter, .revoked, &result)
            case .unreadable: try await record(ReplayItem(letter, .recordUnreadable), &result)
            case nil: try await leaveOrDrop(letter, .unknown, &result)
            }
        }
        let confirms = replayable.isEmpty ? [] : await publisher.publish(replayable.map(\.message), to: .dispatch)
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

    private func leaveOrDrop(_ letter: DeadLetter, _ why: ReplayItem.Outcome, _ result: inout ReplayReport) async throws
    {
        if drops { try await queue.remove(letter) }
        try await record(ReplayItem(letter, why, isDropped: drops), &result)
    }

    private func record(_ item: ReplayItem, _ result: inout ReplayReport) async throws {
        result.count(item)
        try await report(item)
    }
}

/// The result of one dead letter.
struct ReplayItem: Encodable, Sendable, Equatable {
    enum Outcome: String, Encodable, Sendable {
        case replayed
        /// The broker did not confirm the message. The dead letter stays in the queue.
        case failed
        /// The store does not have the notification.
        case unknown
        case expired
        case revoked
        /// The notification is final on every platform.
        case settled
        /// The body is not a notification ID.
        case unreadable
        /// The notification's record in the store cannot be read.
        case recordUnreadable = "record-unreadable"
        /// The notification has no dead letter.
        case notFound = "not-found"
    }

    var id: String?
    var result: Outcome
    var platforms: [String]?
    /// Whether the dead letter was removed without a replay.
    var dropped: Bool?

    private enum CodingKeys: String, CodingKey {
        case id = "Id", result = "Result", platforms = "Platforms", dropped = "Dropped"
    }

    init(id: String?, result: Outcome, platforms: [Platform]? = nil, isDropped: Bool = false) {
        self.id = id
        self.result = result
        self.platforms = platforms?.map(\.rawValue)
        dropped = isDropped ? true : nil
    }

    init(_ letter: DeadLetter, _ result: Outcome, platforms: [Platform]? = nil, isDropped: Bool = false) {
        self.init(
            id: letter.message?.id.description, result: result, platforms: platforms, isDropped: isDropped)
    }

    /// One line for people.
    var text: String {
        let name = id ?? "unreadable message"
        switch result {
        case .replayed: return "replayed \(name) to \(platforms?.joined(separator: ",").oneLine ?? "all platforms")"
        case .failed: return "failed   \(name): the broker did not confirm it"
        case .unreadable: return "left     \(name): it can only be purged"
        case .recordUnreadable:
            return "left     \(name): its record cannot be read, perhaps because a newer version wrote it"
        case .notFound: return "missing  \(name): it has no dead letter"
        case .unknown, .expired, .revoked, .settled:
            let why = result == .settled ? "final on every platform" : result.rawValue
            return "\(dropped == true ? "dropped " : "left    ") \(name): \(why)"
        }
    }
}

/// The result of a replay.
struct ReplayReport: Encodable, Sendable, Equatable {
    var replayed = 0
    /// Removed without a replay.
    var dropped = 0
    /// Selected, but still in the queue.
    var left = 0
    /// Requested by ID, but not in the queue.
    var notFound = 0
    /// Why the broker did not confirm a message. The rest was not tried.
    var failure: String?

    private enum CodingKeys: String, CodingKey {
        case replayed = "Replayed", dropped = "Dropped", left = "Left", notFound = "NotFound"
    }

    mutating func count(_ item: ReplayItem) {
        switch item.result {
        case .replayed: replayed += 1
        case .notFound: notFound += 1
        default: if item.dropped == true { dropped += 1 } else { left += 1 }
        }
    }

    var summary: String {
        let counts = [(replayed, "replayed"), (dropped, "dropped"), (left, "left"), (notFound, "not found")]
        return counts.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
    }
}
