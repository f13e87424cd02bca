import Synchronization

/// The faults that are switched on. Looked at on every request, and free while there are none.
final class FaultTable: Sendable {
    typealias Effect = FaultEffect

    private struct Entry {
        var fault: Fault
        /// When it begins and ends, in milliseconds since 1970.
        let start: Int64
        let end: Int64
        var generator: SeededGenerator?
        var window = ThrottleWindow()

        var isSpent: Bool { fault.count == 0 }

        /// Whether its rate hits this time. Every request that matches draws, so that a seed gives the same run again.
        mutating func hits(_ draw: () -> Double) -> Bool {
            guard fault.rate < 1 else { return true }
            guard var generator else { return draw() < fault.rate }
            defer { self.generator = generator }
            return Double.random(in: 0..<1, using: &generator) < fault.rate
        }

        /// Counts a hit; nil when the fault is a tier's throttle and the tier allows the request.
        mutating func strike(_ operation: Fault.Operation, _ now: Int64) -> Fault? {
            var hit = fault
            if let tier = fault.tier {
                guard Fault.Operation.send.covers(operation),
                    let seconds = window.take(tier, nowMilliseconds: now)
                else { return nil }
                hit.retryAfter = fault.retryAfter ?? seconds
            }
            fault.hits += 1
            fault.count = fault.count.map { $0 - 1 }
            return hit
        }
    }

    private struct State {
        var entries: [Entry] = []
        var lastID = 0
    }

    private static let capacity = 100

    private let state = Mutex(State())
    private let isEmpty = Atomic<Bool>(true)
    /// The seed of faults that name none; nil: the system's randomness.
    private let defaultSeed: UInt64?

    init(defaultSeed: UInt64? = nil) {
        self.defaultSeed = defaultSeed
    }

    /// The faults that are on or will be.
    var all: [Fault] {
        let now = WireTime.now.milliseconds
        return state.withLock { $0.entries.filter { $0.end > now }.map(\.fault) }
    }

    /// - Returns: the fault as it stands in the table, with its ID.
    @discardableResult
    func add(_ fault: Fault, nowMilliseconds now: Int64 = WireTime.now.milliseconds) -> Fault {
        state.withLock { state in
            state.entries.removeAll { $0.end <= now }
            if state.entries.count >= Self.capacity { state.entries.removeFirst() }
            state.lastID += 1
            var fault = fault
            fault.id = state.lastID
            fault.seed = fault.seed ?? defaultSeed
            let start = now + Int64(fault.startMilliseconds)
            state.entries.append(
                Entry(
                    fault: fault, start: start, end: fault.durationMilliseconds.map { start + Int64($0) } ?? .max,
                    generator: fault.seed.map { SeededGenerator(seed: $0) }))
            isEmpty.store(false, ordering: .relaxed)
            return fault
        }
    }

    func removeAll() {
        _ = remove { _ in true }
    }

    /// - Returns: whether there was one.
    @discardableResult
    func remove(id: Int) -> Bool {
        return remove { $0.fault.id == id } > 0
    }

    private func remove(where isMeant: (Entry) -> Bool) -> Int {
        state.withLock { state in
            let before = state.entries.count
            state.entries.removeAll(where: isMeant)
            isEmpty.store(state.entries.isEmpty, ordering: .relaxed)
            return before - state.entries.count
        }
    }

    /// Draws what happens to a request: all delays that apply, the first answer, and the first fate.
    ///
    /// - Parameters:
    ///   - tags: the request's tags in lower case, asked for only when a fault is for a tag.
    ///   - draw: a number from 0 up to 1, asked for each fault that has a rate below 1 and no seed.
    func effect(
        on operation: Fault.Operation, platform: NotificationFormat?, tags: () -> [String] = { [] },
        nowMilliseconds now: Int64 = WireTime.now.milliseconds, draw: () -> Double = { .random(in: 0..<1) }
    ) -> FaultEffect {
        guard !isEmpty.load(ordering: .relaxed) else { return .none }
        return state.withLock { state in
            var effect = FaultEffect()
            for index in state.entries.indices {
                let fault = state.entries[index].fault
                guard !(effect.fault != nil && fault.decidesAnswer), !(effect.fate != nil && fault.decidesFate),
                    state.entries[index].start <= now, now < state.entries[index].end,
                    fault.applies(to: operation, platform: platform, tags: tags), state.entries[index].hits(draw),
                    let hit = state.entries[index].strike(operation, now)
                else { continue }
                effect.add(hit)
            }
            state.entries.removeAll { $0.isSpent || $0.end <= now }
            isEmpty.store(state.entries.isEmpty, ordering: .relaxed)
            return effect
        }
    }
}
