import SecurePushCore
import ServiceRuntime
import Synchronization

/// Bounds the bytes that the requests in flight hold in this process.
///
/// A request is counted twice: the body as it arrives, and then the bytes for the store, which may be many times as
/// many (``CreateNotificationRequest/storedBytes``). A request that does not fit is refused at once with 503 and
/// `Retry-After`. A part of the budget is reserved for small requests, so that large ones do not shut them out.
final class RequestBudget: Sendable {
    enum Limit {
        /// The limit for all requests in flight together, in bytes.
        static let maxBytes = 192 * 1024 * 1024
        /// The part of it that only small requests may use.
        static let reservedForSmall = 32 * 1024 * 1024
        /// The largest request that counts as small.
        static let maxSmallBytes = 64 * 1024
    }

    private let maxBytes: Int
    private let reservedForSmall: Int
    private let used = Mutex(0)

    /// Tests use smaller limits.
    init(maxBytes: Int = Limit.maxBytes, reservedForSmall: Int = Limit.reservedForSmall) {
        self.maxBytes = maxBytes
        self.reservedForSmall = reservedForSmall
    }

    /// The bytes that the requests in flight hold now.
    var usedBytes: Int { used.withLock { $0 } }

    /// A new request's share, which holds nothing yet.
    func share() -> Share { Share(of: self) }

    /// - Parameter held: the bytes that the request holds already.
    private func reserve(_ bytes: Int, held: Int) -> Bool {
        let isSmall = bytes <= Limit.maxSmallBytes - held
        let limit = isSmall ? maxBytes : maxBytes - reservedForSmall
        return used.withLock { used in
            guard bytes <= limit - used else { return false }
            used += bytes
            return true
        }
    }

    private func release(_ bytes: Int) { used.withLock { $0 -= bytes } }

    /// One request's part of the budget, until it is released.
    final class Share: Sendable {
        private let budget: RequestBudget
        private let bytes = Mutex(0)

        fileprivate init(of budget: RequestBudget) { self.budget = budget }

        // A response that is never written never releases its share.
        deinit { release() }

        /// Reserves more bytes.
        ///
        /// - Throws: 503 with `Retry-After` if they do not fit.
        func add(_ count: Int) throws(Problem) {
            let fits = bytes.withLock { bytes in
                guard budget.reserve(count, held: bytes) else { return false }
                bytes += count
                return true
            }
            if !fits { throw .serviceUnavailable("Too much request data is in flight; retry in one second.") }
        }

        /// Releases all bytes. A second call changes nothing.
        func release() {
            let held = bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            }
            if held > 0 { budget.release(held) }
        }
    }
}

/// Admits large requests to the store in order of arrival, as many at a time as hold ``Limit/maxBytes`` together.
///
/// The store commits requests in order of arrival. Small requests do not wait here, so in the store they wait for at
/// most that many bytes. A large request is sealed only in its turn, so copies of payloads are bounded as well.
final class StoringTurns: Sendable {
    enum Limit {
        /// The bytes that the store may hold at a time; a larger request is stored alone.
        static let maxBytes = 8 * 1024 * 1024
    }

    private let queue = Mutex(TurnQueue())

    /// The number of requests that wait for their turn.
    var waitingCount: Int { queue.withLock { $0.waiting.count } }

    /// Runs the body when it is the request's turn; at once for a small request.
    ///
    /// - Parameter bytes: the bytes that the store gets from the request.
    /// - Throws: any error of the body; `CancellationError` if the task is cancelled while it waits.
    func withTurn<Value>(of bytes: Int, _ body: () async throws -> Value) async throws -> Value {
        guard bytes > RequestBudget.Limit.maxSmallBytes else { return try await body() }
        let bytes = min(bytes, Limit.maxBytes)
        guard await enter(bytes) else { throw CancellationError() }
        defer { resume(queue.withLock { $0.leave(bytes) }) }
        return try await body()
    }

    /// - Returns: whether it is the request's turn; `false` if the task was cancelled.
    private func enter(_ bytes: Int) async -> Bool {
        let ticket = queue.withLock { $0.nextTicket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = queue.withLock { queue in
                    // Checked under the lock: a later cancellation finds the ticket in the queue.
                    if Task.isCancelled { return false }
                    return queue.enter(TurnQueue.Waiter(ticket: ticket, bytes: bytes, continuation: continuation))
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let (cancelled, admitted) = queue.withLock { $0.remove(ticket) }
            cancelled?.continuation.resume(returning: false)
            resume(admitted)
        }
    }

    private func resume(_ admitted: [TurnQueue.Waiter]) {
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }
}

/// The state of ``StoringTurns``.
private struct TurnQueue {
    struct Waiter {
        let ticket: Int
        let bytes: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private(set) var waiting: [Waiter] = []
    private var bytes = 0
    private var lastTicket = 0

    mutating func nextTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// - Returns: `true` if it is the request's turn, `nil` if it was queued.
    mutating func enter(_ waiter: Waiter) -> Bool? {
        waiting.append(waiter)
        guard waiting.count == 1, !admit().isEmpty else { return nil }
        return true
    }

    /// - Returns: the requests whose turn it is now.
    mutating func leave(_ bytes: Int) -> [Waiter] {
        self.bytes -= bytes
        return admit()
    }

    /// Removes a cancelled request; those behind it may fit now.
    mutating func remove(_ ticket: Int) -> (cancelled: Waiter?, admitted: [Waiter]) {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return (nil, []) }
        let cancelled = waiting.remove(at: index)
        return (cancelled, admit())
    }

    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        while let next = waiting.first, bytes + next.bytes <= StoringTurns.Limit.maxBytes {
            bytes += next.bytes
            admitted.append(waiting.removeFirst())
        }
        return admitted
    }
}
