import Synchronization

/// Bounds the bytes that the requests in flight hold in this process.
///
/// Ingest counts a request twice: the body as it arrives, and then the bytes for the store, which may be many times as
/// many. Retrieval counts the payloads of a page until the response is written. A request that does not fit is refused
/// at once with 503 and `Retry-After`. A part of the budget is reserved for small requests, so that large ones do not
/// shut them out.
public final class RequestBudget: Sendable {
    /// The bounds.
    public enum Limit {
        /// The limit for all requests in flight together, in bytes.
        public static let maxBytes = 192 * 1024 * 1024
        /// The part of it that only small requests may use.
        public static let reservedForSmall = 32 * 1024 * 1024
        /// The largest request that counts as small.
        public static let maxSmallBytes = 64 * 1024
    }

    private let maxBytes: Int
    private let reservedForSmall: Int
    private let used = Mutex(0)

    /// Tests use smaller limits.
    public init(maxBytes: Int = Limit.maxBytes, reservedForSmall: Int = Limit.reservedForSmall) {
        self.maxBytes = maxBytes
        self.reservedForSmall = reservedForSmall
    }

    /// The bytes that the requests in flight hold now.
    public var usedBytes: Int { used.withLock { $0 } }

    /// A new request's share, which holds nothing yet.
    public func share() -> Share { Share(of: self) }

    /// - Parameter held: the bytes that the request holds already.
    private func reserve(_ bytes: Int, held: Int) -> Bool {
        let isSmall = bytes <= Limit.maxSmallBytes - held
        let limit = isSmall ? maxBytes : maxBytes - reservedForSmall
        return used.withLock { used in
            guard bytes <= limit - used else { return false }
            used += bytes
            return true
        }
    }

    private func release(_ bytes: Int) { used.withLock { $0 -= bytes } }

    /// One request's part of the budget, until it is released.
    public final class Share: Sendable {
        private let budget: RequestBudget
        private let bytes = Mutex(0)

        fileprivate init(of budget: RequestBudget) { self.budget = budget }

        // A response that is never written never releases its share.
        deinit { release() }

        /// Reserves more bytes.
        ///
        /// - Throws: 503 with `Retry-After` if they do not fit.
        public func add(_ count: Int) throws(Problem) {
            let fits = bytes.withLock { bytes in
                guard budget.reserve(count, held: bytes) else { return false }
                bytes += count
                return true
            }
            if !fits { throw .serviceUnavailable("Too much request data is in flight; retry in one second.") }
        }

        /// Releases all bytes. A second call changes nothing.
        public func release() {
            let held = bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            }
            if held > 0 { budget.release(held) }
        }
    }
}
