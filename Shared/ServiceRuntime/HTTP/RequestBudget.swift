import Synchronization

/// Bounds the bytes that the requests in flight hold in this process.
///
/// Ingest counts a request twice: the body as it arrives, and then the bytes for the store, which may be many times as
/// many. Retrieval counts the payloads of a page until the response is written. A request that does not fit is refused
/// at once with 503 and `Retry-After`. A part of the budget is reserved for small requests, so that large ones do not
/// shut them out.
///
/// A batch has no size when it begins, so it reserves bytes for each line, waits for a while if they do not fit, and
/// shares a quarter of the budget with the other batches of its sender.
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
    private let used = Mutex(Used())

    private struct Used {
        var bytes = 0
        /// Of the shares that name a sender; a sender who holds nothing is absent.
        var bySender: [String: Int] = [:]

        mutating func add(_ count: Int, of sender: String?) {
            bytes += count
            guard let sender else { return }
            let own = bySender[sender, default: 0] + count
            bySender[sender] = own == 0 ? nil : own
        }
    }

    /// Tests use smaller limits.
    public init(maxBytes: Int = Limit.maxBytes, reservedForSmall: Int = Limit.reservedForSmall) {
        self.maxBytes = maxBytes
        self.reservedForSmall = reservedForSmall
    }

    /// The bytes that the requests in flight hold now.
    public var usedBytes: Int { used.withLock { $0.bytes } }

    /// A new request's share, which holds nothing yet.
    public func share() -> Share { Share(of: self, for: nil) }

    /// A new batch's share, which holds nothing yet. All shares of a sender may hold a quarter of the budget together,
    /// and nothing of the part for small requests.
    public func share(ofBatchBy sender: String) -> Share { Share(of: self, for: sender) }

    /// - Parameter held: the bytes that the request holds already.
    private func reserve(_ bytes: Int, held: Int, of sender: String?) -> Bool {
        let isSmall = sender == nil && bytes <= Limit.maxSmallBytes - held
        let limit = isSmall ? maxBytes : maxBytes - reservedForSmall
        return used.withLock { used in
            guard bytes <= limit - used.bytes else { return false }
            if let sender, bytes > maxBytes / 4 - used.bySender[sender, default: 0] { return false }
            used.add(bytes, of: sender)
            return true
        }
    }

    private func add(_ bytes: Int, of sender: String?) { used.withLock { $0.add(bytes, of: sender) } }

    /// One request's part of the budget, until it is released.
    public final class Share: Sendable {
        private let budget: RequestBudget
        private let sender: String?
        private let bytes = Mutex(0)

        fileprivate init(of budget: RequestBudget, for sender: String?) {
            self.budget = budget
            self.sender = sender
        }

        // A response that is never written never releases its share.
        deinit { release() }

        /// Reserves more bytes.
        ///
        /// - Throws: 503 with `Retry-After` if they do not fit.
        public func add(_ count: Int) throws(Problem) {
            let fits = bytes.withLock { bytes in
                guard budget.reserve(count, held: bytes, of: sender) else { return false }
                bytes += count
                return true
            }
            if !fits { throw .serviceUnavailable("Too much request data is in flight; retry in one second.") }
        }

        /// The same, waiting for others to release theirs.
        ///
        /// - Returns: whether the bytes were reserved; `false` after `patience`, or if the task is cancelled.
        public func add(_ count: Int, within patience: Duration) async -> Bool {
            let end = ContinuousClock.now + patience
            while true {
                if (try? add(count)) != nil { return true }
                guard ContinuousClock.now < end else { return false }
                do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
            }
        }

        /// Counts bytes that are there already, whether or not they fit. Others may not fit then.
        public func hold(_ count: Int) {
            bytes.withLock { $0 += count }
            budget.add(count, of: sender)
        }

        /// Releases a part of the bytes, at most all.
        public func release(_ count: Int) {
            let given = bytes.withLock { bytes in
                let given = min(max(count, 0), bytes)
                bytes -= given
                return given
            }
            if given > 0 { budget.add(-given, of: sender) }
        }

        /// Releases all bytes. A second call changes nothing.
        public func release() {
            let held = bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            }
            if held > 0 { budget.add(-held, of: sender) }
        }
    }
}
