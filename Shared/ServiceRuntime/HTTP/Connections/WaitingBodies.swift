import Foundations
import Synchronization

/// Bounds the requests whose bodies have not arrived: per client address, and in all. They hold no permit
/// (``InFlightRequests``), so that they do not keep others out.
///
/// Bodies that arrive together with their head are not counted. When the half of all places is taken, only addresses
/// with few such requests get another one: many addresses with many requests leave places for the others.
final class WaitingBodies: Sendable {
    private struct State {
        var total = 0
        /// At most as many entries as requests.
        var counts: [ClientAddress: Int] = [:]
    }

    /// The requests of an address that are few.
    static let few = 32

    private let maxTotal: Int
    private let maxPerAddress: Int
    private let state = Mutex(State())

    init(limits: HTTPLimits) {
        maxTotal = limits.maxWaitingBodies
        maxPerAddress = limits.maxWaitingBodiesPerAddress
    }

    var count: Int { state.withLock { $0.total } }

    /// Counts a request until ``end(_:)``.
    ///
    /// - Returns: `false` if there are too many.
    func begin(_ address: ClientAddress?) -> Bool {
        state.withLock { state in
            let own = address.map { state.counts[$0, default: 0] } ?? 0
            let isFew = own < min(Self.few, maxPerAddress)
            guard own < maxPerAddress, state.total < (isFew ? maxTotal : maxTotal / 2) else { return false }
            state.total += 1
            if let address { state.counts[address] = own + 1 }
            return true
        }
    }

    func end(_ address: ClientAddress?) {
        state.withLock { state in
            state.total -= 1
            guard let address, let own = state.counts[address] else { return }
            state.counts[address] = own > 1 ? own - 1 : nil
        }
    }
}
