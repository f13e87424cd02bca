import SecurePushCore
import Synchronization

/// The idempotency keys whose requests this process works on at the moment.
final class InFlightKeys: Sendable {
    private let keys = Mutex<Set<IdempotentRequest.Key>>([])

    /// - Returns: whether nobody else has it; whoever gets it ``leave(_:)``s it.
    func enter(_ key: IdempotentRequest.Key) -> Bool { keys.withLock { $0.insert(key).inserted } }

    func leave(_ key: IdempotentRequest.Key) { keys.withLock { _ = $0.remove(key) } }
}
