import SecurePushCore
import ServiceRuntime
import Synchronization

/// Bounds the bytes that the requests in flight hold in this process.
///
/// A request is weighed twice: its body as it comes, and then the bytes that the store gets, which may be many times as
/// many (``CreateNotificationRequest/storedBytes``). A request that does not fit is refused at once with 503 and
/// `Retry-After`. A part of the budget is kept for small requests, so that large ones do not shut them out.
final class RequestBudget: Sendable {
    enum Limit {
        /// The limit for all requests in flight together, in bytes.
        static let maxBytes = 192 * 1024 * 1024
        /// The part of it that only small requests may use.
        static let reservedForSmall = 32 * 1024 * 1024
        /// The largest request that counts as small.
        static let maxSmallBytes = 64 * 1024
    }

    private let maxBytes: Int
    private let reservedForSmall: Int
    private let used = Mutex(0)

    /// Tests have smaller ones.
    init(maxBytes: Int = Limit.maxBytes, reservedForSmall: Int = Limit.reservedForSmall) {
        self.maxBytes = maxBytes
        self.reservedForSmall = reservedForSmall
    }

    /// The bytes that the requests in flight hold now.
    var usedBytes: Int { used.withLock { $0 } }

    /// A new request's share, which holds nothing yet.
    func share() -> Share { Share(of: self) }

    /// - Parameter held: the bytes that the request holds already.
    fileprivate func take(_ bytes: Int, held: Int) -> Bool {
        let isSmall = bytes <= Limit.maxSmallBytes - held
        let limit = isSmall ? maxBytes : maxBytes - reservedForSmall
        return used.withLock { used in
            guard bytes <= limit - used else { return false }
            used += bytes
            return true
        }
    }

    fileprivate func requeue(_ bytes: Int) { used.withLock { $0 -= bytes } }

    /// One request's part of the budget, until it is released.
    final class Share: Sendable {
        private let budget: RequestBudget
        private let bytes = Mutex(0)

        fileprivate init(of budget: RequestBudget) { self.budget = budget }

        // An answer that is never written never releases its share.
        deinit { release() }

        /// Takes more.
        ///
        /// - Throws: 503 with `Retry-After` where that does not fit.
        func add(_ count: Int) throws(Problem) {
            let fits = bytes.withLock { bytes in
                guard budget.take(count, held: bytes) else { return false }
                bytes += count
                return true
            }
            if !fits {
                throw .serviceUnavailable("Too many bytes of requests are in flight; send this one again in a second.")
            }
        }

        /// Gives everything back. A second call changes nothing.
        func release() {
            let held = bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            }
            if held > 0 { budget.requeue(held) }
        }
    }
}
