import Synchronization

/// Lets large requests to the store in the order in which they came, as many at a time as hold ``Limit/maxBytes``
/// together.
///
/// The store commits requests in the order in which they come. Small requests do not wait here, and so wait for at most
/// that many bytes there. A large request is sealed only in its turn, so that copies of payloads are bounded as well.
final class StoringTurns: Sendable {
    enum Limit {
        /// The bytes that the store may have at a time; a request that holds more goes alone.
        static let maxBytes = 8 * 1024 * 1024
    }

    private struct Waiter {
        let ticket: Int
        let bytes: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var bytes = 0
        var waiting: [Waiter] = []
        var lastTicket = 0

        /// Those from the front of the line that fit now.
        mutating func admit(limit: Int) -> [Waiter] {
            var admitted: [Waiter] = []
            while let next = waiting.first, bytes + next.bytes <= limit {
                bytes += next.bytes
                admitted.append(waiting.removeFirst())
            }
            return admitted
        }
    }

    private let state = Mutex(State())

    /// How many requests wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs the body when it is the request's turn; at once for a small request.
    ///
    /// - Parameter bytes: the bytes that the store gets of the request.
    /// - Throws: any error of the body; `CancellationError` when the task is cancelled while it waits.
    func withTurn<Value>(of bytes: Int, _ body: () async throws -> Value) async throws -> Value {
        guard bytes > RequestBudget.Limit.maxSmallBytes else { return try await body() }
        let bytes = min(bytes, Limit.maxBytes)
        guard await enter(bytes) else { throw CancellationError() }
        defer { leave(bytes) }
        return try await body()
    }

    /// - Returns: whether it is the request's turn; it is not when the task was cancelled.
    private func enter(_ bytes: Int) async -> Bool {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // Read under the lock: a cancellation that comes later finds the ticket in the line.
                    if Task.isCancelled { return false }
                    if state.waiting.isEmpty, state.bytes + bytes <= Limit.maxBytes {
                        state.bytes += bytes
                        return true
                    }
                    state.waiting.append(Waiter(ticket: ticket, bytes: bytes, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            withdraw(ticket)
        }
    }

    private func leave(_ bytes: Int) {
        let admitted = state.withLock { state in
            state.bytes -= bytes
            return state.admit(limit: Limit.maxBytes)
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }

    /// Takes a cancelled request out of the line; those behind it may fit now.
    private func withdraw(_ ticket: Int) {
        let (withdrawn, admitted) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return (nil, []) }
            let withdrawn = state.waiting.remove(at: index)
            return (withdrawn, state.admit(limit: Limit.maxBytes))
        }
        withdrawn?.continuation.resume(returning: false)
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }
}
