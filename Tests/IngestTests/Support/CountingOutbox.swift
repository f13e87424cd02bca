import Domain
import Foundations
import StackKit
import Synchronization

/// Counts what is asked of an outbox.
final class CountingOutbox: ForwardingStore {
    private struct Counts {
        var leases = 0
        var publishedLeases = 0
        var confirmed: [NotificationID] = []
    }

    let base: any Store
    private let counts = Mutex(Counts())

    /// What it refuses to note, with all that is in the same call.
    private let refused: Set<NotificationID>

    init(_ base: any Store, refusing refused: Set<NotificationID> = []) {
        self.base = base
        self.refused = refused
    }

    var leases: Int { counts.withLock { $0.leases } }
    var publishedLeases: Int { counts.withLock { $0.publishedLeases } }
    /// What was noted as published.
    var confirmed: [NotificationID] { counts.withLock { $0.confirmed } }

    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        counts.withLock { $0.leases += 1 }
        return try await base.lease(limit: limit, now: now, until: until)
    }

    func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        counts.withLock { $0.publishedLeases += 1 }
        return try await base.leasePublished(limit: limit, due: due, now: now, until: until)
    }

    func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        guard refused.isDisjoint(with: ids) else { throw StorageError(.failed, "refused") }
        counts.withLock { $0.confirmed += ids }
        try await base.confirm(ids, until: until)
    }
}
