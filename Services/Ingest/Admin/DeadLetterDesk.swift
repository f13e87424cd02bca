import SecurePushCore

/// The dead-letter queue as the operator's page uses it, with a connection for each use.
///
/// Whoever reads the queue holds its letters for that moment, and a replay at the same time does not find them.
/// Therefore one reading serves all who ask within ``freshness``, and a replay begins after a reading that has begun.
actor DeadLetterDesk {
    /// How long a reading is given again.
    static let freshness = Duration.seconds(2)

    private let open: @Sendable () async throws -> any DeadLetterQueue
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The reading in progress, or the last one, and ``changes`` at its beginning.
    private var reading: (task: Task<DeadLetterReport, any Error>, changes: Int)?
    /// The result of the last reading, also a failure, and when it came.
    private var known: (result: Result<DeadLetterReport, any Error>, at: ContinuousClock.Instant)?
    /// The replays that have ended. A reading from before the end of one is not given again.
    private var changes = 0

    /// - Parameters:
    ///   - open: connects to the queue.
    ///   - now: the clock for ``freshness``.
    init(
        open: @escaping @Sendable () async throws -> any DeadLetterQueue,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.open = open
        self.now = now
    }

    /// The oldest dead letters, at most ``freshness`` old. Reading them removes nothing; for that moment other readers
    /// find the queue empty.
    ///
    /// - Parameter limit: at most ``AdminActions/maxListed``.
    func oldest(_ limit: Int) async throws -> DeadLetterReport {
        var report = try await oldest()
        report.deadLetters = Array(report.deadLetters.prefix(limit))
        return report
    }

    /// Changes the queue, and forgets the readings from before.
    func change<Value: Sendable>(
        _ body: @Sendable (any DeadLetterQueue) async throws -> Value
    ) async throws -> Value {
        _ = await reading?.task.result
        defer {
            changes += 1
            known = nil
        }
        return try await use(body)
    }

    private func oldest() async throws -> DeadLetterReport {
        if let known {
            if now() - known.at < Self.freshness { return try known.result.get() }
        } else if let reading, reading.changes == changes {
            return try await reading.task.value
        }
        let begun = changes
        let task = Task { try await read() }
        reading = (task, begun)
        known = nil
        let result = await task.result
        if begun == changes { known = (result, now()) }
        return try result.get()
    }

    private func read() async throws -> DeadLetterReport {
        try await use { queue in
            let (letters, total) = try await DeadLetterScan(queue: queue).letters(AdminActions.maxListed) { _ in true }
            return DeadLetterReport(total: total, deadLetters: letters.map(DeadLetterReport.Item.init))
        }
    }

    private func use<Value: Sendable>(
        _ body: @Sendable (any DeadLetterQueue) async throws -> Value
    ) async throws -> Value {
        let queue = try await open()
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
