import SecurePushCore

/// Sends what was given up after all: first the store's record is reopened, then the message published and confirmed,
/// then the letter removed. Whatever ends in between leaves the letter, and doing it again does no harm.
struct DeadLetterReplay: Sendable {
    let queue: any DeadLetterQueue
    let ledger: any DeadLetterLedger
    let publisher: any DispatchPublisher
    /// Whether letters are removed of what can never be sent: unknown, expired, revoked, or owed to nobody.
    var drops = false
    var progress: @Sendable (_ looked: Int, _ total: Int) -> Void = { _, _ in }
    /// Told of each letter that was meant.
    var report: @Sendable (ReplayItem) async throws -> Void = { _ in }

    /// Letters whose records are reopened and that are published together.
    static let batchSize = 200

    /// - Parameter ids: only these, whatever the selection; `nil` for all that it includes.
    func run(
        ids: Set<NotificationID>?, _ selection: @Sendable (DeadLetter) -> Bool
    ) async throws -> ReplayReport {
        var result = ReplayReport()
        var batch: [DeadLetter] = []
        var found: Set<NotificationID> = []
        try await DeadLetterScan(queue: queue, progress: progress).run { letter in
            guard selection(letter) else { return true }
            guard let id = letter.message?.id else {
                if ids == nil { try await tell(ReplayItem(letter, .unreadable), &result) }
                return true
            }
            if let ids, !ids.contains(id) { return true }
            // Each letter of a notification is decided on by the record that the one before it left.
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
            try await tell(ReplayItem(id: id.description, result: .notFound), &result)
        }
        return result
    }

    private func replay(_ letters: [DeadLetter], _ result: inout ReplayReport) async throws {
        let messages = letters.compactMap { letter in letter.message.map { (letter, $0) } }
        let named = Dictionary(messages.map { ($1.id, $1.platforms ?? []) }) { first, _ in first }
        let reopened = try await ledger.reopen(named, now: .now)
        var owed: [(letter: DeadLetter, message: DispatchMessage)] = []
        for (letter, message) in messages {
            switch reopened[message.id] {
            case .owed(let platforms):
                let next = DispatchMessage(
                    id: message.id, platforms: platforms.isEmpty ? nil : platforms, traceparent: message.traceparent)
                owed.append((letter, next))
            case .settled: try await giveUp(letter, .settled, &result)
            case .expired: try await giveUp(letter, .expired, &result)
            case .revoked: try await giveUp(letter, .revoked, &result)
            case .unreadable: try await tell(ReplayItem(letter, .recordUnreadable), &result)
            case nil: try await giveUp(letter, .unknown, &result)
            }
        }
        let confirms = owed.isEmpty ? [] : await publisher.publish(owed.map(\.message), to: .dispatch)
        for ((letter, message), confirm) in zip(owed, confirms) {
            switch confirm {
            case .success:
                try await queue.remove(letter)
                try await tell(ReplayItem(letter, .replayed, platforms: message.platforms), &result)
            case .failure(let error):
                result.failure = error.message
                try await tell(ReplayItem(letter, .failed, platforms: message.platforms), &result)
            }
        }
    }

    private func giveUp(_ letter: DeadLetter, _ why: ReplayItem.Outcome, _ result: inout ReplayReport) async throws {
        if drops { try await queue.remove(letter) }
        try await tell(ReplayItem(letter, why, isDropped: drops), &result)
    }

    private func tell(_ item: ReplayItem, _ result: inout ReplayReport) async throws {
        result.count(item)
        try await report(item)
    }
}

/// What came of one letter that was to be replayed.
struct ReplayItem: Encodable, Sendable, Equatable {
    enum Outcome: String, Encodable, Sendable {
        case replayed
        /// The broker did not confirm the message; the letter is still there.
        case failed
        /// The store has no such notification.
        case unknown
        case expired
        case revoked
        /// Nothing is owed any more.
        case settled
        /// The body is no notification's ID.
        case unreadable
        /// The notification's record in the store cannot be read.
        case recordUnreadable = "record-unreadable"
        /// There is no letter of this notification.
        case notFound = "not-found"
    }

    var Id: String?
    var Result: Outcome
    var Platforms: [String]?
    /// Whether the letter was removed without being replayed.
    var Dropped: Bool?

    init(id: String?, result: Outcome, platforms: [Platform]? = nil, isDropped: Bool = false) {
        Id = id
        Result = result
        Platforms = platforms?.map(\.rawValue)
        Dropped = isDropped ? true : nil
    }

    init(_ letter: DeadLetter, _ result: Outcome, platforms: [Platform]? = nil, isDropped: Bool = false) {
        self.init(
            id: letter.message?.id.description, result: result, platforms: platforms, isDropped: isDropped)
    }

    /// One line for people.
    var text: String {
        let name = Id ?? "unreadable message"
        switch Result {
        case .replayed: return "replayed \(name) to \(Platforms?.joined(separator: ",").oneLine ?? "all platforms")"
        case .failed: return "failed   \(name): the broker did not confirm it"
        case .unreadable: return "left     \(name): it can only be purged"
        case .recordUnreadable:
            return "left     \(name): its record cannot be read; a newer version may have written it"
        case .notFound: return "missing  \(name): there is no dead letter of it"
        case .unknown, .expired, .revoked, .settled:
            let why = Result == .settled ? "nothing is owed" : Result.rawValue
            return "\(Dropped == true ? "dropped " : "left    ") \(name): \(why)"
        }
    }
}

/// What came of all letters that were to be replayed.
struct ReplayReport: Encodable, Sendable, Equatable {
    var Replayed = 0
    /// Removed without being replayed.
    var Dropped = 0
    /// Still in the queue, though they were meant.
    var Left = 0
    /// Asked for by ID, and not there.
    var NotFound = 0
    /// Why the broker did not confirm one; the rest was not tried then.
    var failure: String?

    private enum CodingKeys: String, CodingKey { case Replayed, Dropped, Left, NotFound }

    mutating func count(_ item: ReplayItem) {
        switch item.Result {
        case .replayed: Replayed += 1
        case .notFound: NotFound += 1
        default: if item.Dropped == true { Dropped += 1 } else { Left += 1 }
        }
    }

    var summary: String {
        let counts = [(Replayed, "replayed"), (Dropped, "dropped"), (Left, "left"), (NotFound, "not found")]
        return counts.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
    }
}
