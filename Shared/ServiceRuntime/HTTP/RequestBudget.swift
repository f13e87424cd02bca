import Synchronization

/// Bounds the bytes that the requests in flight hold in this process.
///
/// Ingest counts a request twice: the body as it arrives, and then the bytes for the store, which may be many times as
/// many. Retrieval counts the payloads of a page until the response is written. A request that does not fit is refused
/// at once with 503 and `Retry-After`. A part of the budget is reserved for small requests, so that large ones do not
/// shut them out.
///
/// A batch has no size when it begins, so it reserves bytes for each line, waits for a while if they do not fit, and
/// shares a quarter of the budget with the other batches of its sender. Single bodies that are still arriving share
/// another quarter: a sender decides how long they take, and so must not hold the memory that others need.
///
/// Decision: docs/decisions/0011-requests-are-weighed.md
package final class RequestBudget: Sendable {
    package enum Limit {
        /// The limit for all requests in flight together, in bytes.
        package static let maxBytes = 192 * 1024 * 1024
        /// The part of it that only small requests may use.
        package static let reservedForSmall = 32 * 1024 * 1024
        /// The largest request that counts as small.
        package static let maxSmallBytes = 64 * 1024
    }

    private let maxBytes: Int
    private let reservedForSmall: Int
    private let used = Mutex(Used())

    private struct Used {
        var bytes = 0
        /// Of the reservations that have an owner; an owner who holds nothing is absent.
        var byOwner: [Owner: Int] = [:]

        mutating func add(_ count: Int, of owner: Owner?) {
            bytes += count
            addOwn(count, of: owner)
        }

        mutating func addOwn(_ count: Int, of owner: Owner?) {
            guard let owner else { return }
            let own = byOwner[owner, default: 0] + count
            byOwner[owner] = own == 0 ? nil : own
        }
    }

    /// All batches of a sender, or all of its single bodies that are arriving: urgent sends do not wait for batches.
    fileprivate struct Owner: Hashable {
        let sender: String
        let isBatch: Bool
    }

    /// Tests use smaller limits.
    package init(maxBytes: Int = Limit.maxBytes, reservedForSmall: Int = Limit.reservedForSmall) {
        self.maxBytes = maxBytes
        self.reservedForSmall = reservedForSmall
    }

    package var usedBytes: Int { used.withLock { $0.bytes } }

    /// A new request's reservation, which holds nothing yet.
    package func reservation() -> Reservation { Reservation(of: self, for: nil) }

    /// The reservation of a request whose body is arriving, which holds nothing yet. Until ``Reservation/arrived()``,
    /// all such reservations of a sender may hold a quarter of the budget together.
    package func reservation(arrivingFrom sender: String) -> Reservation {
        Reservation(of: self, for: Owner(sender: sender, isBatch: false))
    }

    /// A new batch's reservation, which holds nothing yet. All reservations of a sender may hold a quarter of the
    /// budget together, and nothing of the part for small requests.
    package func reservation(ofBatchBy sender: String) -> Reservation {
        Reservation(of: self, for: Owner(sender: sender, isBatch: true))
    }

    /// - Parameter held: the bytes that the request holds already.
    private func reserve(_ bytes: Int, held: Int, of owner: Owner?) -> Bool {
        let isSmall = owner?.isBatch != true && bytes <= Limit.maxSmallBytes - held
        let limit = isSmall ? maxBytes : maxBytes - reservedForSmall
        return used.withLock { used in
            guard bytes <= limit - used.bytes else { return false }
            if let owner, bytes > maxBytes / 4 - used.byOwner[owner, default: 0] { return false }
            used.add(bytes, of: owner)
            return true
        }
    }

    private func add(_ bytes: Int, of owner: Owner?) { used.withLock { $0.add(bytes, of: owner) } }

    private func disown(_ bytes: Int, of owner: Owner?) { used.withLock { $0.addOwn(-bytes, of: owner) } }

    /// One request's part of the budget, until it is released.
    package final class Reservation: Sendable {
        private let budget: RequestBudget
        private let held: Mutex<Held>

        private struct Held {
            var owner: Owner?
            var bytes = 0
        }

        fileprivate init(of budget: RequestBudget, for owner: Owner?) {
            self.budget = budget
            held = Mutex(Held(owner: owner))
        }

        // A response that is never written never releases its reservation.
        deinit { release() }

        /// Reserves more bytes.
        ///
        /// - Throws: 503 with `Retry-After` if they do not fit.
        package func add(_ count: Int) throws(Problem) {
            let fits = held.withLock { held in
                guard budget.reserve(count, held: held.bytes, of: held.owner) else { return false }
                held.bytes += count
                return true
            }
            if !fits { throw .serviceUnavailable("Too much request data is in flight; retry in one second.") }
        }

        /// Reserves further bytes, and waits until other requests have released theirs.
        ///
        /// - Returns: whether the bytes were reserved; `false` after `patience`, or if the task is cancelled.
        package func add(_ count: Int, within patience: Duration) async -> Bool {
            let end = ContinuousClock.now + patience
            while true {
                if (try? add(count)) != nil { return true }
                guard ContinuousClock.now < end else { return false }
                do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
            }
        }

        /// Counts bytes that are there already, whether or not they fit. Others may not fit then.
        package func hold(_ count: Int) {
            held.withLock { held in
                held.bytes += count
                budget.add(count, of: held.owner)
            }
        }

        /// The body has arrived: the request's bytes no longer count for its sender, but still in the total.
        package func arrived() {
            held.withLock { held in
                budget.disown(held.bytes, of: held.owner)
                held.owner = nil
            }
        }

        /// Releases a part of the bytes, at most all.
        package func release(_ count: Int) {
            held.withLock { held in
                let given = min(max(count, 0), held.bytes)
                held.bytes -= given
                if given > 0 { budget.add(-given, of: held.owner) }
            }
        }

        /// Releases all bytes. A second call changes nothing.
        package func release() { release(.max) }
    }
}
