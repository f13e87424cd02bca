import Dispatch
import SecurePushCore
import Synchronization

/// Starts work that calls back, and waits for its answer or until the time is out; a later answer is dropped.
///
/// - Throws: the answer's error, or ``StorageError`` with code `timeout`.
func withDeadline(
    _ timeout: Duration, start: (@escaping @Sendable (Result<Void, StorageError>) -> Void) -> Void
) async throws {
    try await withCheckedThrowingContinuation { caller in
        let answer = FirstAnswer(caller)
        let time = DispatchTime.now() + .milliseconds(Int(clamping: timeout.milliseconds))
        DispatchQueue.global().asyncAfter(deadline: time) {
            answer.give(.failure(StorageError(.timeout, "The database did not answer in time.")))
        }
        start { answer.give($0) }
    }
}

/// Lets the first of two answers through.
private final class FirstAnswer: Sendable {
    private let caller: Mutex<CheckedContinuation<Void, any Error>?>

    init(_ caller: CheckedContinuation<Void, any Error>) { self.caller = Mutex(caller) }

    func give(_ answer: Result<Void, StorageError>) {
        caller.withLock { $0.take() }?.resume(with: answer)
    }
}
