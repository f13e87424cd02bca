import Foundation
import SecurePushClient

/// A clock whose time passes only when somebody sleeps, or when a test says so. A deadline waits for that.
final class SimulatedClock: ClientClock, @unchecked Sendable {
    // Unchecked: the lock guards all that changes.
    private let lock = NSLock()
    private var now: TimeInterval = 0
    /// What the time of day is ahead of the uptime.
    private var offset: TimeInterval = 1_800_000_000
    private var waiters: [UUID: (uptime: TimeInterval, continuation: CheckedContinuation<Void, any Error>)] = [:]

    var uptime: TimeInterval { lock.withLock { now } }
    var date: Date { lock.withLock { Date(timeIntervalSince1970: now + offset) } }

    /// Changes the time of day, as a user or a time server does.
    func jump(by seconds: TimeInterval) { lock.withLock { offset += seconds } }

    func advance(by seconds: TimeInterval) {
        let due = lock.withLock {
            now += max(0, seconds)
            let due = waiters.filter { $0.value.uptime <= now }
            for key in due.keys { waiters[key] = nil }
            return due.values.sorted { $0.uptime < $1.uptime }
        }
        for waiter in due { waiter.continuation.resume() }
    }

    func sleep(for seconds: TimeInterval) async throws {
        try Task.checkCancellation()
        advance(by: seconds)
        await Task.yield()
        try Task.checkCancellation()
    }

    func waitUntil(uptime: TimeInterval) async throws {
        let key = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = lock.withLock {
                    if now >= uptime || Task.isCancelled { return true }
                    waiters[key] = (uptime, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = lock.withLock { waiters.removeValue(forKey: key) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }
}
