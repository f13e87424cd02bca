import Domain
import Foundations
import StackKit
import Synchronization
import TestSupport

/// Stands in the way of a store: holds what comes, or fails it, as a test says.
final class FakeWriter: ForwardingStore {
    private struct State {
        var failure: StorageError?
        var isHolding: Bool
        var waiting: [CheckedContinuation<Void, Never>] = []
        var appends = 0
    }

    let base: any Store
    private let state: Mutex<State>
    /// The recipient whose notifications are refused for good.
    private let refused: UserName?

    init(
        _ store: any Store = memoryStore(), failure: StorageError? = nil, refused: UserName? = nil,
        isHolding: Bool = false
    ) {
        base = store
        self.refused = refused
        state = Mutex(State(failure: failure, isHolding: isHolding))
    }

    /// How many calls are being held.
    var waiting: Int { state.withLock { $0.waiting.count } }
    /// How many calls there were.
    var appends: Int { state.withLock { $0.appends } }

    /// From now on calls fail with this, or go through.
    func fail(_ failure: StorageError?) { state.withLock { $0.failure = failure } }

    /// Lets everything through.
    func release() {
        let waiting = state.withLock { state in
            state.isHolding = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        Task {
            do {
                try await pass(notifications)
                base.append(notifications, then: completion)
            } catch {
                completion(.failure(error))
            }
        }
    }

    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        try await pass(notifications)
        return try await base.append(notifications, once: request, now: now)
    }

    private func pass(_ notifications: [SealedNotification]) async throws {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                state.appends += 1
                if state.isHolding { state.waiting.append(continuation) }
                return state.isHolding
            }
            if !waits { continuation.resume() }
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        if notifications.contains(where: { $0.notification.recipient == refused }) {
            throw StorageError(.failed, "refused for the test")
        }
    }
}
