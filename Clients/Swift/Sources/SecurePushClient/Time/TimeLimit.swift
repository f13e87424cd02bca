import Foundation

/// Runs work that must not take longer than until a deadline.
enum TimeLimit {
    /// Runs the work, and returns at the deadline even if the work does not notice that it was cancelled.
    ///
    /// - Parameter deadline: the ``ClientClock/uptime`` at which the work is cancelled.
    /// - Throws: ``TransportError/timedOut`` at the deadline, `CancellationError` when the task is cancelled, and the
    ///   errors of the work.
    static func run<Value: Sendable>(
        until deadline: TimeInterval, on clock: any ClientClock, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = Race<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                race.begin(continuation)
                let worker = Task {
                    do { race.finish(.success(try await work())) } catch { race.finish(.failure(error)) }
                }
                let timer = Task {
                    do { try await clock.waitUntil(uptime: deadline) } catch { return }
                    race.finish(.failure(TransportError.timedOut))
                }
                race.own([worker, timer])
            }
        } onCancel: {
            race.finish(.failure(CancellationError()))
        }
    }
}

/// The first of several results.
///
/// It is unchecked because the lock guards all that changes.
private final class Race<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Value, any Error>?
    private var result: Result<Value, any Error>?
    private var tasks: [Task<Void, Never>] = []

    func begin(_ continuation: CheckedContinuation<Value, any Error>) {
        lock.lock()
        let early = result
        if early == nil { self.continuation = continuation }
        lock.unlock()
        if let early { continuation.resume(with: early) }
    }

    /// Takes the first result, and cancels the rest of the work.
    func finish(_ result: Result<Value, any Error>) {
        lock.lock()
        let isFirst = self.result == nil
        if isFirst { self.result = result }
        let (continuation, tasks) = (isFirst ? self.continuation : nil, self.tasks)
        self.continuation = nil
        lock.unlock()
        for task in tasks { task.cancel() }
        continuation?.resume(with: result)
    }

    func own(_ tasks: [Task<Void, Never>]) {
        lock.lock()
        let isOver = result != nil
        self.tasks = tasks
        lock.unlock()
        if isOver { for task in tasks { task.cancel() } }
    }
}
