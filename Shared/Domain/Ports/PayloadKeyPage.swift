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
    ///
    /// - Parameters:
    ///   - limit: the rows of a page.
    ///   - between: called between two pages with the figures so far.
    package func payloadKeys(
        limit: Int = 10_000, now: Timestamp, between: (_ counts: [String: Int]) async throws -> Void = { _ in }
    ) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        var page = PayloadKeyPage()
        while true {
            page = try await payloadKeys(after: page.next, limit: limit, now: now)
            counts.merge(page.counts, uniquingKeysWith: +)
            if page.next == nil { return counts }
            try await between(counts)
        }
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
