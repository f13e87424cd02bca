import Domain
import Foundations
import Synchronization

/// The dead-letter queue as the operator's page uses it, with a connection for each use.
///
/// A reader of the queue holds its letters for a moment, and other readers do not find them. Therefore readings and
/// replays run one after another, and one reading serves all requests within ``freshness``.
actor DeadLetterAccess {
    /// The oldest letters, and how many there are in all.
    typealias Letters = (oldest: [DeadLetter], total: Int)

    /// How long a reading is reused.
    static let freshness = Duration.seconds(2)

    private let open: @Sendable () async throws -> any DeadLetterQueue
    private let now: @Sendable () -> ContinuousClock.Instant
    /// One use at a time, in order of arrival.
    private let turn = Mutex(Turn())
    /// The reading in progress, or the one that waits for its turn.
    private var reading: Task<Letters, any Error>?
    /// The result of the last reading, also a failure, and when it came; `nil` after a replay.
    private var known: (result: Result<Letters, any Error>, at: ContinuousClock.Instant)?

    private struct Turn {
        var isTaken = false
        var waiting = WaitList<Void>()
    }

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
    /// - Parameter limit: at most ``OperatorActions/maxListed``.
    func oldest(_ limit: Int) async throws -> Letters {
        let letters = try await oldest()
        return (Array(letters.oldest.prefix(limit)), letters.total)
    }

    /// Changes the queue, and forgets the readings from before.
    func change<Value: Sendable>(
        _ body: @Sendable (any DeadLetterQueue) async throws -> Value
    ) async throws -> Value {
        try await inTurn {
            defer { known = nil }
            return try await use(body)
        }
    }

    private func oldest() async throws -> Letters {
        if let known, now() - known.at < Self.freshness { return try known.result.get() }
        if let reading { return try await reading.value }
        let task = Task { try await readInTurn() }
        reading = task
        return try await task.value
    }

    private func readInTurn() async throws -> Letters {
        try await inTurn {
            let result: Result<Letters, any Error>
            do { result = .success(try await read()) } catch { result = .failure(error) }
            // Both within the turn, so that a request after the next replay gets neither.
            known = (result, now())
            reading = nil
            return try result.get()
        }
    }

    private func read() async throws -> Letters {
        try await use { queue in
            let (letters, total) = try await DeadLetterScan(queue: queue).letters(OperatorActions.maxListed) { _ in true
            }
            return (letters, total)
        }
    }

    private func inTurn<Value>(_ body: () async throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        try await turn.wait(in: \.waiting) { turn in
            guard !turn.isTaken else { return nil }
            turn.isTaken = true
            return ()
        }
        defer {
            let next = turn.withLock { turn in
                let next = turn.waiting.popFirst()
                turn.isTaken = next != nil
                return next
            }
            next?.resume()
        }
        return try await body()
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
