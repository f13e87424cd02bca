/// Tells how full the dispatchers' queue is.
public protocol DispatchGauge: Sendable {
    /// How many messages are ready in the dispatch queue: not handed to a dispatcher yet. `nil` when that cannot be
    /// found out now.
    func readyDispatches() async -> Int?
}
