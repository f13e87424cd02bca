import Postgres
import SecurePushCore

/// One call of ``IdempotentWriter/append(_:once:now:)``, as it waits for the statement that it shares.
struct KeyedAppend: Sendable {
    /// `nil` once stored, or the earlier request that has the key. A result, because a group may take several
    /// statements, of which some may fail.
    typealias Outcome = Result<IdempotentRequest?, any Error>

    let notifications: [SealedNotification]
    let request: IdempotentRequest
    let now: Timestamp
    /// This call's own mark on its key: tells a statement that is repeated after a lost connection that it had been
    /// done, and is not another's.
    let holder = PostgresUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))

    /// As how many rows it counts when groups are made.
    var commitWeight: Int { notifications.reduce(1) { $0 + $1.commitWeight } }
}

/// Calls of one group on their way through statements, each of which takes a key once and a bounded number of rows.
struct KeyedAppendRounds {
    private let group: [KeyedAppend]
    private let limit: Int
    private var waiting: [Int]
    private var outcomes: [KeyedAppend.Outcome?]

    init(_ group: [KeyedAppend], limit: Int) {
        self.group = group
        self.limit = limit
        waiting = Array(group.indices)
        outcomes = Array(repeating: nil, count: group.count)
    }

    /// The calls of the next statement, in the order of their keys, so that two processes never wait for each other's
    /// keys; empty when all calls have their outcome.
    mutating func next() -> [KeyedAppend] {
        var rows = 0
        var keys: Set<IdempotentRequest.Key> = []
        var round: [KeyedAppend] = []
        for position in waiting {
            let call = group[position]
            guard round.isEmpty || rows + call.notifications.count <= limit else { continue }
            guard keys.insert(call.request.key).inserted else { continue }
            rows += call.notifications.count
            round.append(call)
        }
        return round.sorted { $0.request.key.precedes($1.request.key) }
    }

    /// Notes what became of a round, and answers with it the other calls that wait for its keys.
    ///
    /// A call that finds its own request, the answer with its IDs included, was made once more by a caller who did not
    /// hear that it had been done: it is stored, and no repeat by another.
    ///
    /// - Parameter result: the earlier requests of those keys that were taken, or why the statement failed.
    mutating func settle(
        _ round: [KeyedAppend], _ result: Result<[IdempotentRequest.Key: IdempotentRequest], any Error>
    ) {
        let calls = Dictionary(uniqueKeysWithValues: round.map { ($0.request.key, $0) })
        waiting.removeAll { position in
            let call = group[position]
            guard let leader = calls[call.request.key] else { return false }
            switch result {
            case .failure(let error):
                guard call.holder == leader.holder else { return false }
                outcomes[position] = .failure(error)
            case .success(let earlier):
                let present = earlier[call.request.key] ?? leader.request
                guard call.holder == leader.holder || present.expiresAt > call.now else { return false }
                outcomes[position] = .success(present == call.request ? nil : present)
            }
            return true
        }
    }

    /// The outcomes in the order of the calls.
    func results() -> [KeyedAppend.Outcome] {
        outcomes.map { $0 ?? .failure(StorageError(.failed, "A request with a key was left without an outcome.")) }
    }
}

extension IdempotentRequest.Key {
    /// The order of the bytes.
    fileprivate func precedes(_ other: Self) -> Bool {
        if !sender.utf8.elementsEqual(other.sender.utf8) {
            return sender.utf8.lexicographicallyPrecedes(other.sender.utf8)
        }
        if !value.utf8.elementsEqual(other.value.utf8) {
            return value.utf8.lexicographicallyPrecedes(other.value.utf8)
        }
        return line < other.line
    }
}
