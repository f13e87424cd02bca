import Synchronization

/// Asks what runs to come to its end early, keeping what it has; cancelling would lose requests that are under way.
final class StopRequest: Sendable {
    private let requested = Atomic<Bool>(false)

    var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// - Returns: whether it is the first request.
    @discardableResult
    func request() -> Bool { !requested.exchange(true, ordering: .relaxed) }
}
