import Synchronization

/// The faults that are switched on. Looked at on every request, and free while there are none.
final class FaultTable: Sendable {
    /// What happens to one request.
    struct Effect: Equatable, Sendable {
        var latencyMilliseconds = 0
        var fault: Fault?
    }

    private static let capacity = 100

    private let faults = Mutex<[Fault]>([])
    private let isEmpty = Atomic<Bool>(true)

    var all: [Fault] { faults.withLock { $0 } }

    func add(_ fault: Fault) {
        faults.withLock { faults in
            if faults.count >= Self.capacity { faults.removeFirst() }
            faults.append(fault)
            isEmpty.store(false, ordering: .relaxed)
        }
    }

    func removeAll() {
        faults.withLock { faults in
            faults.removeAll()
            isEmpty.store(true, ordering: .relaxed)
        }
    }

    /// Draws what happens to a request: all delays that apply, and the first status or cut.
    ///
    /// - Parameter draw: a number from 0 up to 1, asked for each fault that has a rate below 1.
    func effect(
        on operation: Fault.Operation, platform: NotificationFormat?, draw: () -> Double = { .random(in: 0..<1) }
    ) -> Effect {
        guard !isEmpty.load(ordering: .relaxed) else { return Effect() }
        return faults.withLock { faults in
            var effect = Effect()
            for index in faults.indices {
                let fault = faults[index]
                guard effect.fault == nil, fault.applies(to: operation, platform: platform), fault.count != 0,
                    fault.rate >= 1 || draw() < fault.rate
                else { continue }
                faults[index].count = fault.count.map { $0 - 1 }
                effect.latencyMilliseconds += fault.latencyMilliseconds
                if fault.status != nil || fault.reset { effect.fault = fault }
            }
            faults.removeAll { $0.count == 0 }
            isEmpty.store(faults.isEmpty, ordering: .relaxed)
            return effect
        }
    }
}
