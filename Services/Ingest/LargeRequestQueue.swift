import Foundations
import ServiceRuntime
import Synchronization

/// Admits large requests to the store in order of arrival, as many at a time as hold ``Limit/maxBytes`` together.
///
/// The store commits requests in order of arrival. Small requests do not wait here, so in the store they wait for at
/// most that many bytes. A large request is sealed only in its turn, so copies of payloads are bounded as well.
///
/// Decision: docs/decisions/0011-requests-are-weighed.md
final class LargeRequestQueue: Sendable {
    enum Limit {
        /// The bytes that the store may hold at a time; a larger request is stored alone.
        static let maxBytes = 8 * 1024 * 1024
    }

    private struct State {
        /// The waiting requests, with their bytes.
        var waiting = WaitList<Void>()
        /// The bytes that the store holds.
        var bytes = 0

        func hasRoom(_ bytes: Int) -> Bool { self.bytes + bytes <= Limit.maxBytes }
    }

    private let state = Mutex(State())

    /// The number of requests that wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs the body when it is the request's turn; at once for a small request.
    ///
    /// - Parameter bytes: the bytes that the store gets from the request.
    /// - Throws: any error of the body; `CancellationError` if the task is cancelled while it waits.
    func withSlot<Value>(of bytes: Int, _ body: () async throws -> Value) async throws -> Value {
        guard bytes > RequestBudget.Limit.maxSmallBytes else { return try await body() }
        let bytes = min(bytes, Limit.maxBytes)
        try Task.checkCancellation()
        do {
            try await state.wait(in: \.waiting, size: bytes) { state in
                guard state.waiting.isEmpty, state.hasRoom(bytes) else { return nil }
                state.bytes += bytes
                return ()
            }
        } catch {
            // Those behind it may fit now.
            giveBack(0)
            throw error
        }
        defer { giveBack(bytes) }
        return try await body()
    }

    /// Takes bytes from the store, and admits those that fit then.
    private func giveBack(_ bytes: Int) {
        let admitted = state.withLock { state in
            state.bytes -= bytes
            var admitted: [WaitList<Void>.Waiter] = []
            while let next = state.waiting.first, state.hasRoom(next.size) {
                state.bytes += next.size
                state.waiting.popFirst()
                admitted.append(next)
            }
            return admitted
        }
        for waiter in admitted { waiter.resume() }
    }
}
