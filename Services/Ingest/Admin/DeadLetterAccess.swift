import Domain
import Foundations

/// The dead-letter queue as the operator's page uses it, with a connection for each use.
///
/// Whoever uses the queue holds its letters for that moment, and others do not find them. Therefore readings and
/// replays take turns, and one reading serves all who ask within ``freshness``.
actor DeadLetterAccess {
    /// How long a reading is given again.
    static let freshness = Duration.seconds(2)

    private let open: @Sendable () async throws -> any DeadLetterQueue
    private let now: @Sendable () -> ContinuousClock.Instant
    /// One use at a time, in order of arrival: each takes all that may be in use.
    private let slots = LargeRequestQueue()
    /// The reading in progress, or the one that waits for its turn.
    private var reading: Task<DeadLetterReport, any Error>?
    /// The result of the last reading, also a failure, and when it came; `nil` after a replay.
    private var known: (result: Result<DeadLetterReport, any Error>, at: ContinuousClock.Instant)?

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
        try await slots.withSlot(of: LargeRequestQueue.Limit.maxBytes) {
            defer { known = nil }
            return try await use(body)
        }
    }

    private func oldest() async throws -> DeadLetterReport {
        if let known, now() - known.at < Self.freshness { return try known.result.get() }
        if let reading { return try await reading.value }
        let task = Task { try await readInTurn() }
        reading = task
        return try await task.value
    }

    private func readInTurn() async throws -> DeadLetterReport {
        try await slots.withSlot(of: LargeRequestQueue.Limit.maxBytes) {
            let result: Result<DeadLetterReport, any Error>
            do { result = .success(try await read()) } catch { result = .failure(error) }
            // Both within the turn: who asks after a replay that follows gets neither.
            known = (result, now())
            reading = nil
            return try result.get()
        }
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
