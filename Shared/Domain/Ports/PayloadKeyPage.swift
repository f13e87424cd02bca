package import Foundations

/// How many payloads each key has sealed that can still be read, in a part of the store.
package struct PayloadKeyPage: Sendable, Hashable {
    /// By the ID of the key.
    package var counts: [String: Int]
    /// After which notification the next page begins; `nil` after the last page.
    package var next: NotificationID?

    package init(counts: [String: Int] = [:], next: NotificationID? = nil) {
        (self.counts, self.next) = (counts, next)
    }
}

extension OperatorStore {
    /// How many payloads each key has sealed that can still be read: page by page, so that no statement takes long.
    package func payloadKeys(now: Timestamp) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        var page = PayloadKeyPage()
        repeat {
            page = try await payloadKeys(after: page.next, limit: 10_000, now: now)
            counts.merge(page.counts, uniquingKeysWith: +)
        } while page.next != nil
        return counts
    }
}

extension PayloadKeyRing {
    /// What an operator is told of the keys that payloads need and that the ring does not hold: a sentence for each,
    /// without a full stop.
    ///
    /// - Parameter counts: how many payloads each key has sealed, by its ID.
    package func missingKeys(_ counts: [String: Int]) -> [String] {
        counts.filter { key($0.key) == nil }.sorted { $0.key < $1.key }.map { id, count in
            "the key ring has no key \(id), so \(count) \(count == 1 ? "payload" : "payloads") cannot be opened"
        }
    }
}
