import Domain
import Foundations
import StackKit
import Synchronization

/// A store that refuses groups with certain elements, as one statement of a database fails as a whole.
final class PickyStore: ForwardingStore {
    enum Operation: Hashable, CaseIterable { case claim, record, claimFollowUps, recordFollowUps }

    typealias Refusal = @Sendable (Operation, NotificationID) -> StorageError.Code?

    let base: any Store
    private let refusal: Mutex<Refusal>
    private let counts = Mutex<[Operation: Int]>([:])

    init(_ base: any Store, refusing refusal: @escaping Refusal) {
        self.base = base
        self.refusal = Mutex(refusal)
    }

    /// From now on it takes everything.
    func takeAll() { refusal.withLock { $0 = { _, _ in nil } } }

    /// How many statements there were.
    func count(_ operation: Operation) -> Int { counts.withLock { $0[operation, default: 0] } }

    private func check(_ operation: Operation, _ ids: [NotificationID]) throws {
        counts.withLock { $0[operation, default: 0] += 1 }
        let refusal = refusal.withLock { $0 }
        for id in ids {
            if let code = refusal(operation, id) { throw StorageError(code, "refused by the test") }
        }
    }

    func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        try check(.claim, ids)
        return try await base.claim(ids, first: first, now: now)
    }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        try check(.record, outcomes.map(\.id))
        return try await base.record(outcomes)
    }

    func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims {
        try check(.claimFollowUps, followUps.map(\.id))
        return try await base.claimFollowUps(followUps, now: now)
    }

    func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws {
        try check(.recordFollowUps, outcomes.map(\.followUp.id))
        try await base.recordFollowUps(outcomes)
    }
}
