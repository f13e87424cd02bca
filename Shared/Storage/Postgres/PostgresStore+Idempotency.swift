import Domain
import Foundations
import Postgres

extension PostgresStore {
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        try requireConnection()
        let call = KeyedAppend(notifications: notifications, request: request, now: now)
        return try await keyedAppends.submit([call]).first?.get() ?? nil
    }

    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        try requireConnection()
        let found = try await requestReadings.submit([key]).first ?? nil
        return found.flatMap { $0.expiresAt > now ? $0 : nil }
    }
}

extension PostgresStatement {
    /// Takes keys, and stores the notifications of those that were free, in one statement and one transaction. Returns
    /// the requests that hold the other keys.
    ///
    /// If another transaction is taking the same key, this one waits for it at the unique index. A row that holds a key
    /// is rewritten unchanged, because RETURNING contains only written rows, and reads them after the wait: so a repeat
    /// costs one row version and no second statement. `holder` identifies the owner of a key afterwards, even if the
    /// statement is repeated after a lost connection.
    fileprivate static let appendOnce = appendOnce(extras: nil)

    /// ``appendOnce`` for groups with extras.
    fileprivate static let appendOnceWithExtras = appendOnce(extras: 29)

    private static func appendOnce(extras: Int?) -> PostgresStatement {
        PostgresStatement(
            """
            WITH taken AS (
                INSERT INTO idempotency_keys AS present (
                    sender, value, line, holder, taken_at, expires_at, fingerprint, location, body)
                SELECT unnest($20::text[]), unnest($21::text[]), unnest($22::integer[]), unnest($23::uuid[]),
                    unnest($24::bigint[]), unnest($25::bigint[]), unnest($26::bytea[]), unnest($27::text[]),
                    unnest($28::bytea[])
                ON CONFLICT (sender, value, line) DO UPDATE SET \(takeover)
                RETURNING *
            ), stored AS (
                INSERT INTO notifications (\(notificationColumns(extras)))
                SELECT \(notificationColumns(extras))
                FROM (SELECT \(notificationInput(extras)), unnest($19::uuid[]) AS holder) AS input
                WHERE (holder IN (SELECT holder FROM taken)) IS TRUE
                ON CONFLICT (id) DO NOTHING
                RETURNING id
            ), \(payloadsOfStored), \(entriesOfStored)\(questionsOfStored(extras))
            SELECT sender, value, line, fingerprint, location, body, expires_at FROM taken
            WHERE (holder IN (SELECT unnest($23::uuid[]))) IS NOT TRUE
            """)
    }

    /// Replaces a row only if it has expired.
    private static let takeover = ["holder", "taken_at", "expires_at", "fingerprint", "location", "body"]
        .map { column in
            """
            \(column) = CASE WHEN present.expires_at <= excluded.taken_at
                THEN excluded.\(column) ELSE present.\(column) END
            """
        }.joined(separator: ", ")

    fileprivate static let requests = PostgresStatement(
        """
        SELECT present.sender, present.value, present.line, fingerprint, location, body, expires_at, asked.position
        FROM unnest($1::text[], $2::text[], $3::integer[]) WITH ORDINALITY AS asked (sender, value, line, position)
        JOIN idempotency_keys AS present ON present.sender = asked.sender COLLATE "C"
            AND present.value = asked.value COLLATE "C" AND present.line = asked.line
        """)
}

extension PostgresClient {
    /// Stores each request of a group once.
    func append(_ group: [KeyedAppend]) async -> [KeyedAppend.Outcome] {
        var rounds = KeyedAppendRounds(group, limit: PostgresStore.maxGroup)
        while true {
            let round = rounds.next()
            if round.isEmpty { return rounds.results() }
            do {
                rounds.settle(round, .success(try await appendOnce(round)))
            } catch {
                rounds.settle(round, .failure(error))
            }
        }
    }

    private func appendOnce(_ round: [KeyedAppend]) async throws -> [IdempotentRequest.Key: IdempotentRequest] {
        var parameters = PostgresParameters(round)
        let notifications = round.flatMap(\.notifications)
        let hasExtras = notifications.contains(where: \.hasExtras)
        if hasExtras { parameters.appendExtras(notifications) }
        let statement = hasExtras ? PostgresStatement.appendOnceWithExtras : .appendOnce
        let result = try await queryRepeating(statement, parameters)
        return try decoding {
            var earlier: [IdempotentRequest.Key: IdempotentRequest] = [:]
            for row in result {
                let request = try IdempotentRequest(row)
                earlier[request.key] = request
            }
            return earlier
        }
    }

    /// The stored request of each key, expired or not.
    func requests(_ keys: [IdempotentRequest.Key]) async throws -> [IdempotentRequest?] {
        var parameters = PostgresParameters(capacity: keys.count * 96 + 64)
        parameters.append(keys) { $0.sender }
        parameters.append(keys) { $0.value }
        parameters.append(keys) { Int32(clamping: $0.line) }
        let result = try await mapped { try await self.query(.requests, parameters) }
        return try decoding {
            var found = [IdempotentRequest?](repeating: nil, count: keys.count)
            for row in result {
                found[Int(try row.decode(7, as: Int64.self)) - 1] = try IdempotentRequest(row)
            }
            return found
        }
    }
}

extension PostgresParameters {
    /// The parameters of ``PostgresStatement/appendOnce``.
    fileprivate init(_ round: [KeyedAppend]) {
        let notifications = round.count == 1 ? round[0].notifications : round.flatMap(\.notifications)
        let size = round.reduce(0) { $0 + $1.request.answer.body.count + 256 }
        self.init(notifications, capacity: size + notifications.count * 20 + 256)
        append(round.flatMap { call in repeatElement(call.holder, count: call.notifications.count) }) { $0 }
        append(round) { $0.request.key.sender }
        append(round) { $0.request.key.value }
        append(round) { Int32(clamping: $0.request.key.line) }
        append(round) { $0.holder }
        append(round) { $0.now.milliseconds }
        append(round) { $0.request.expiresAt.milliseconds }
        append(round) { $0.request.fingerprint }
        append(round) { $0.request.answer.location }
        append(round) { $0.request.answer.body }
    }
}

extension IdempotentRequest {
    /// Reads the first columns of a row of the statements above.
    fileprivate init(_ row: PostgresRow) throws {
        let key = Key(
            sender: try row.decode(0), value: try row.decode(1), line: Int(try row.decode(2, as: Int32.self)))
        self.init(
            key: key, fingerprint: try row.decode(3),
            answer: Answer(location: try row.decodeIfPresent(4), body: try row.decode(5)),
            expiresAt: try row.timestamp(6))
    }
}

/// One call of ``NotificationWriter/append(_:once:now:)`` while it waits for a shared statement.
struct KeyedAppend: Sendable {
    /// `nil` if stored, or the earlier request with the key. A `Result`, because a group may need several statements,
    /// and each may fail.
    typealias Outcome = Result<IdempotentRequest?, any Error>

    let notifications: [SealedNotification]
    let request: IdempotentRequest
    let now: Timestamp
    /// Marks the key as taken by this call: if the statement is repeated after a lost connection, it recognises its own
    /// row.
    let holder = PostgresUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))

    /// How many rows it counts as when groups are formed.
    var commitWeight: Int { notifications.reduce(1) { $0 + $1.commitWeight } }
}

/// The calls of one group, split into statements: each takes a key only once, and a bounded number of rows.
struct KeyedAppendRounds {
    private let group: [KeyedAppend]
    private let limit: Int
    private var waiting: [Int]
    /// The halves of a round that was refused, the next one last.
    private var parts: [[KeyedAppend]] = []
    private var outcomes: [KeyedAppend.Outcome?]

    init(_ group: [KeyedAppend], limit: Int) {
        self.group = group
        self.limit = limit
        waiting = Array(group.indices)
        outcomes = Array(repeating: nil, count: group.count)
    }

    /// The calls of the next statement, in the order of their keys, so that two processes never wait for each other's
    /// keys; empty if all calls have an outcome.
    mutating func next() -> [KeyedAppend] {
        if let part = parts.popLast() { return part }
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

    /// Records the result of a round, and also gives it to the other calls that wait for its keys.
    ///
    /// If a call finds a request equal to its own, including the answer with its IDs, its caller is retrying because
    /// the first result was lost: it counts as stored, and not as another caller's repeat.
    ///
    /// A round that the database refuses for good is split in halves, so that one call does not fail the others.
    ///
    /// - Parameter result: the earlier requests of the keys that were already taken, or why the statement failed.
    mutating func settle(
        _ round: [KeyedAppend], _ result: Result<[IdempotentRequest.Key: IdempotentRequest], any Error>
    ) {
        if case .failure(let error) = result, StorageError.isRefusal(error), round.count > 1 {
            let middle = round.count / 2
            parts += [Array(round[middle...]), Array(round[..<middle])]
            return
        }
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
        outcomes.map { $0 ?? .failure(StorageError(.failed, "A request with a key got no outcome.")) }
    }
}

extension IdempotentRequest.Key {
    /// Compares byte by byte.
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

extension KeyedAppend {
    /// The approximate memory while it waits; see ``GroupCommitQueue/Capacity``.
    var heldBytes: Int {
        notifications.reduce(512 + request.answer.body.count) { $0 + $1.heldBytes }
    }
}
