import SecurePushCore

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
