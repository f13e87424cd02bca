import Foundation
import SecurePushClient

/// A clock that moves only when nothing can run.
///
/// Unchecked, because only the thread of the simulation touches it.
final class SimulatedClock: ClientClock, @unchecked Sendable {
    private struct Sleeper {
        let number: Int
        let end: TimeInterval
        let continuation: CheckedContinuation<Void, any Error>
    }

    private(set) var uptime: TimeInterval = 1_000
    /// The time of day minus ``uptime``. A fault makes it jump.
    var dateOffset: TimeInterval = 1_763_800_000
    private var sleepers: [Sleeper] = []
    private var count = 0

    var date: Date { Date(timeIntervalSince1970: uptime + dateOffset) }

    func sleep(for seconds: TimeInterval) async throws {
        try Task.checkCancellation()
        guard seconds > 0 else { return }
        count += 1
        let number = count
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                sleepers.append(Sleeper(number: number, end: uptime + seconds, continuation: continuation))
                // The handler has run already if the task was cancelled in between.
                if Task.isCancelled { wake(number, CancellationError()) }
            }
        } onCancel: {
            wake(number, CancellationError())
        }
    }

    /// Moves to the first end of a sleep.
    ///
    /// - Returns: false if nobody sleeps.
    func advance() -> Bool {
        guard let next = sleepers.min(by: { ($0.end, $0.number) < ($1.end, $1.number) }) else { return false }
        uptime = max(uptime, next.end)
        wake(next.number, nil)
        return true
    }

    private func wake(_ number: Int, _ error: (any Error)?) {
        guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return }
        let continuation = sleepers.remove(at: index).continuation
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
}
