import Synchronization

/// The tasks of commits that are asynchronous functions. One runs at a time.
final class CommitTasks: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Runs a commit in a task.
    ///
    /// - Parameter completion: called once with what the commit returns or throws.
    func begin<Output: Sendable>(
        then completion: @escaping @Sendable (Result<[Output], any Error>) -> Void,
        _ commit: @escaping @Sendable () async throws -> [Output]
    ) {
        state.withLock { state in
            // Made under the lock: the task's own end begins the next task, which must be the one that is kept.
            let task = Task {
                let result: Result<[Output], any Error>
                do { result = .success(try await commit()) } catch { result = .failure(error) }
                completion(result)
            }
            state.task = task
            if state.isCancelled { task.cancel() }
        }
    }

    /// Cancels the task that runs, and every later one.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
