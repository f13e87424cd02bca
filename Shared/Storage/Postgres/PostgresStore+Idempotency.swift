import Postgres
import SecurePushCore

extension PostgresStore: IdempotentWriter {
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
    /// what holds the others.
    ///
    /// A key that is taken at the same time elsewhere is waited for, on the unique index. One that is held is written
    /// again as it was, because only a row that is written is returned, and read anew after the wait: a repeat costs a
    /// row version and no second statement. `holder` tells whose a key is afterwards, also when the statement is run
    /// again after a lost connection.
    fileprivate static let appendOnce = PostgresStatement(
        """
        WITH taken AS (
            INSERT INTO idempotency_keys AS present (
                sender, key, line, holder, taken_at, expires_at, fingerprint, location, body)
            SELECT unnest($19::text[]), unnest($20::text[]), unnest($21::integer[]), unnest($22::uuid[]),
                unnest($23::bigint[]), unnest($24::bigint[]), unnest($25::bytea[]), unnest($26::text[]),
                unnest($27::bytea[])
            ON CONFLICT (sender, key, line) DO UPDATE SET \(takeover)
            RETURNING *
        ), stored AS (
            INSERT INTO notifications (\(notificationColumns))
            SELECT \(notificationColumns)
            FROM (SELECT \(notificationInput), unnest($18::uuid[]) AS holder) AS input
            WHERE (holder IN (SELECT holder FROM taken)) IS TRUE
            ON CONFLICT (id) DO NOTHING
            RETURNING id
        ), \(payloadsOfStored), \(entriesOfStored)
        SELECT sender, key, line, fingerprint, location, body, expires_at FROM taken
        WHERE (holder IN (SELECT unnest($22::uuid[]))) IS NOT TRUE
        """)

    /// Replaces what has expired, and nothing else.
    private static let takeover = ["holder", "taken_at", "expires_at", "fingerprint", "location", "body"]
        .map { column in
            """
            \(column) = CASE WHEN present.expires_at <= excluded.taken_at
                THEN excluded.\(column) ELSE present.\(column) END
            """
        }.joined(separator: ", ")

    fileprivate static let requests = PostgresStatement(
        """
        SELECT present.sender, present.key, present.line, fingerprint, location, body, expires_at, asked.position
        FROM unnest($1::text[], $2::text[], $3::integer[]) WITH ORDINALITY AS asked (sender, key, line, position)
        JOIN idempotency_keys AS present ON present.sender = asked.sender COLLATE "C"
            AND present.key = asked.key COLLATE "C" AND present.line = asked.line
        """)
}

extension PostgresClient {
    /// Stores a group of requests, each once.
    func append(_ group: [KeyedAppend]) async -> [KeyedAppend.Outcome] {
        var rounds = KeyedAppendRounds(group, limit: PostgresStore.groupLimit)
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
        let result = try await queryRepeating(.appendOnce, PostgresParameters(round))
        return try decoding {
            var earlier: [IdempotentRequest.Key: IdempotentRequest] = [:]
            for row in result {
                let request = try IdempotentRequest(row)
                earlier[request.key] = request
            }
            return earlier
        }
    }

    /// What is stored for each key, whether it has expired or not.
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
    /// The first columns of a row of the statements above.
    fileprivate init(_ row: PostgresRow) throws {
        let key = Key(
            sender: try row.decode(0), value: try row.decode(1), line: Int(try row.decode(2, as: Int32.self)))
        self.init(
            key: key, fingerprint: try row.decode(3),
            answer: Answer(location: try row.decodeIfPresent(4), body: try row.decode(5)),
            expiresAt: try row.timestamp(6))
    }
}
