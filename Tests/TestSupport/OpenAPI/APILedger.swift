import Synchronization

/// The exchanges of a test, for comparing them with the document at its end.
public final class APILedger: Sendable {
    private let noted = Mutex<[APIExchange]>([])

    public init() {}

    public var exchanges: [APIExchange] { noted.withLock { $0 } }

    public func note(_ exchange: APIExchange) { noted.withLock { $0.append(exchange) } }

    /// The documented outcomes that none of the exchanges had.
    public func uncovered(_ description: APIDescription) -> Set<String> {
        description.outcomes.subtracting(exchanges.compactMap(description.outcome(of:)))
    }
}
