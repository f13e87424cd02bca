import Synchronization

/// A place for one answer: written once from any thread, awaited once by one task.
///
/// The waiting task's cancellation takes effect at once, also before it waits; the answer is dropped then.
final class QueryPromise<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Value, any Error>)
        case given(Result<Value, any Error>)
        case taken
    }

    private let state = Mutex(State.empty)

    /// Gives the answer; only the first counts.
    func give(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .empty: state = .given(result)
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .given, .taken: break
            }
            return nil
        }
        waiter?.resume(with: result)
    }

    /// Waits for the answer.
    ///
    /// - Throws: what was given, or `CancellationError`.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let given = state.withLock { state -> Result<Value, any Error>? in
                    guard case .given(let result) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return result
                }
                if let given { continuation.resume(with: given) }
            }
        } onCancel: {
            give(.failure(CancellationError()))
        }
    }
}
