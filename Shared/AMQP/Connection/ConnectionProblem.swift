import Synchronization

/// Why there is no connection, as one thread writes it and any may read; never holds a credential.
final class ConnectionProblem: Sendable {
    private let text = Mutex("no connection was tried yet")

    var current: String { text.withLock { $0 } }

    func set(_ error: AMQPError) { text.withLock { $0 = error.message } }
}
