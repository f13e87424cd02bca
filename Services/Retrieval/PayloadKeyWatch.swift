import Domain
import Foundations
import Logging
import Synchronization

/// Compares the keys that stored payloads need with the key ring, so that an operator learns of a missing key before a
/// user does. After a restore with the key ring of another installation nothing else fails.
///
/// Only retrieval does it, because it opens payloads. It stays ready: other payloads can be read.
final class PayloadKeyWatch: Sendable {
    private static let interval = Duration.seconds(300)
    /// After a check that failed, because the database was unavailable.
    private static let retry = Duration.seconds(5)
    /// A page takes a few milliseconds of the database, which also serves live traffic.
    private static let page = (rows: 2000, pause: Duration.milliseconds(100))

    private let store: any OperatorStore
    private let sealer: PayloadSealer
    private let logger: Logger
    private let counts = Mutex<[String: Int]>([:])
    private let told = Mutex<[String]>([])

    init(store: any OperatorStore, sealer: PayloadSealer, logger: Logger) {
        (self.store, self.sealer, self.logger) = (store, sealer, logger)
    }

    /// Names the missing keys; `nil` if there is none. A key that is put back counts at once.
    var problem: String? {
        let missing = sealer.keyRing.missingKeys(counts.withLock { $0 })
        return missing.isEmpty ? nil : missing.joined(separator: "; ")
    }

    /// Checks all payloads.
    ///
    /// - Returns: the pause before the next time.
    func look() async -> Duration {
        let seen: [String: Int]
        do {
            seen = try await store.payloadKeys(limit: Self.page.rows, now: .now) { seen in
                // A key is missing as soon as one payload shows it.
                counts.withLock { $0.merge(seen, uniquingKeysWith: max) }
                try await Task.sleep(for: Self.page.pause)
            }
        } catch {
            // The database check reports it.
            return Self.retry
        }
        counts.withLock { $0 = seen }
        await tell(seen)
        return Self.interval
    }

    private func tell(_ seen: [String: Int]) async {
        // Another service may have just begun to seal with a new key.
        if problem != nil { await sealer.check() }
        let missing = sealer.keyRing.missingKeys(seen)
        let new = told.withLock { told in
            defer { told = missing }
            return missing != told && !missing.isEmpty
        }
        if new {
            logger.error(
                "Stored payloads need keys that the key ring does not hold",
                metadata: ["missing": "\(missing.joined(separator: "; "))"])
        }
    }
}
