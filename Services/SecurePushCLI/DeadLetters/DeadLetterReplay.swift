import SecurePushCore

/// Sends what was given up after all: first the store's record is reopened, then the message published and confirmed,
/// then the letter removed. Whatever ends in between leaves the letter, and doing it again does no harm.
struct DeadLetterReplay: Sendable {
    let queue: any DeadLetterQueue
    let ledger: any DeadLetterStore
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
