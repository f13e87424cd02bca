import Synchronization

/// Counts the requests in flight, and refuses more than the limit.
final class InFlightRequests: Sendable {
    /// One request that counts until ``end()`` or until it is let go.
    final class Permit: Sendable {
        private let requests: InFlightRequests
        private let isHeld = Atomic(true)

        fileprivate init(_ requests: InFlightRequests) { self.requests = requests }

        deinit { end() }

        /// The request is done; only the first call counts.
        func end() {
            guard isHeld.exchange(false, ordering: .relaxed) else { return }
            requests.count.subtract(1, ordering: .relaxed)
        }
    }

    private let count = Atomic(0)
    private let limit = Atomic(Int.max)

    /// Requests that are being answered now.
    var current: Int { count.load(ordering: .relaxed) }

    /// Sets the limit; without one there is none.
    func setLimit(_ value: Int) { limit.store(value, ordering: .relaxed) }

    /// `nil`: as many as allowed are in flight already.
    func begin() -> Permit? {
        let (_, now) = count.add(1, ordering: .relaxed)
        guard now <= limit.load(ordering: .relaxed) else {
            count.subtract(1, ordering: .relaxed)
            return nil
        }
        return Permit(self)
    }
}
