import Synchronization

/// The exchanges of a test, for comparing them with the document at its end.
package final class APILedger: Sendable {
    private let noted = Mutex<[APIExchange]>([])

    package init() {}

    package var exchanges: [APIExchange] { noted.withLock { $0 } }

    package func note(_ exchange: APIExchange) { noted.withLock { $0.append(exchange) } }

    /// The documented outcomes that none of the exchanges had.
    package func uncovered(_ description: APIDescription) -> Set<String> {
        description.outcomes.subtracting(exchanges.compactMap(description.outcome(of:)))
    }
}
