import ArgumentParser
import Synchronization
import UnixSignals

/// Asks a long run to end early and keep its results. Cancellation would lose the requests in flight.
final class StopRequest: Sendable {
    private let requested = Atomic<Bool>(false)

    var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// - Returns: whether it is the first request.
    @discardableResult
    func request() -> Bool { !requested.exchange(true, ordering: .relaxed) }

    /// Runs a closure. The first SIGINT or SIGTERM is a stop request, and the second one cancels the closure.
    ///
    /// - Parameter noticed: called for each signal.
    /// - Returns: the closure's value; `nil` if it was cancelled.
    func attend<Value: Sendable>(
        noticed: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals {
                    noticed()
                    if !self.request() { break }
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

extension ExitCode {
    /// 128 and the number of SIGINT, as shells report it.
    static let interrupted = ExitCode(130)
}

/// A progress where no terminal shows it: each further 10 % is reported once.
struct Milestone: Sendable {
    private var tenths = 0

    /// The last full 10 % in percent; `nil` if it was reported before.
    mutating func next(_ done: Int, of total: Int) -> Int? {
        guard total > 0, done * 10 / total > tenths else { return nil }
        tenths = done * 10 / total
        return tenths * 10
    }
}
