import Synchronization

/// A single result, which any thread may deliver once and one task may await once.
///
/// Cancelling the waiting task takes effect at once, even before it waits; the result is dropped then.
final class QueryPromise<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Value, any Error>)
        case fulfilled(Result<Value, any Error>)
        case taken
    }

    private let state = Mutex(State.empty)

    /// Delivers the result; only the first one counts.
    func fulfil(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .empty: state = .fulfilled(result)
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .fulfilled, .taken: break
            }
            return nil
        }
        waiter?.resume(with: result)
    }

    /// The result, if it is there and nobody has awaited it.
    var result: Result<Value, any Error>? {
        state.withLock { state in
            guard case .fulfilled(let result) = state else { return nil }
            return result
        }
    }

    /// Waits for the result.
    ///
    /// - Throws: the error of the result, or `CancellationError`.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    guard case .fulfilled(let result) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            fulfil(.failure(CancellationError()))
        }
    }
}
