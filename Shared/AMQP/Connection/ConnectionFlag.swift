import Synchronization

/// A flag that one thread sets and any may read.
final class ConnectionFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set(_ value: Bool) { flag.store(value, ordering: .releasing) }
}
