import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime
import Synchronization

/// The current and future faults.
final class FaultTable: Sendable {
    private struct Entry {
        var fault: Fault
        /// Its start and end, in milliseconds since 1970.
        let start: Int64
        let end: Int64
        var generator: SplitMix64?
        var window = ThrottleWindow()

        var isSpent: Bool { fault.count == 0 }

        /// Draws whether its rate hits this request. Every matching request draws, so a seed repeats the whole run.
        mutating func hits(_ draw: () -> Double) -> Bool {
            guard fault.rate < 1 else { return true }
            guard var generator else { return draw() < fault.rate }
            defer { self.generator = generator }
            return Double.random(in: 0..<1, using: &generator) < fault.rate
        }

        /// Counts a hit; nil when the fault is a tier's throttle and the tier allows the request.
        mutating func hit(_ operation: Fault.Operation, _ now: Int64) -> Fault? {
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
    /// The seed of faults without one; nil: random draws.
    private let defaultSeed: UInt64?

    init(defaultSeed: UInt64? = nil) {
        self.defaultSeed = defaultSeed
    }

    /// All faults that have not ended.
    var all: [Fault] {
        let now = Timestamp.now.milliseconds
        return state.withLock { $0.entries.filter { $0.end > now }.map(\.fault) }
    }

    /// Adds a fault; the oldest makes space if there are too many.
    ///
    /// - Returns: the fault with its ID.
    @discardableResult
    func add(_ fault: Fault, nowMilliseconds now: Int64 = Timestamp.now.milliseconds) -> Fault {
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
                    generator: fault.seed.map { SplitMix64(seed: $0) }))
            return fault
        }
    }

    func removeAll() { state.withLock { $0.entries = [] } }

    /// - Returns: whether there was one.
    @discardableResult
    func remove(id: Int) -> Bool {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.fault.id == id }) else { return false }
            state.entries.remove(at: index)
            return true
        }
    }

    /// Draws the effect on a request: all matching delays, the first response, and the first fate.
    ///
    /// - Parameters:
    ///   - tags: the request's tags in lower case, called only for a fault with a tag.
    ///   - draw: a number from 0 up to 1, called for each fault with a rate below 1 and without a seed.
    func effect(
        on operation: Fault.Operation, platform: NotificationFormat?, tags: () -> [String] = { [] },
        nowMilliseconds now: Int64 = Timestamp.now.milliseconds, draw: () -> Double = { .random(in: 0..<1) }
    ) -> FaultEffect {
        state.withLock { state in
            var effect = FaultEffect()
            for index in state.entries.indices {
                let fault = state.entries[index].fault
                guard !(effect.fault != nil && fault.decidesAnswer), !(effect.fate != nil && fault.decidesFate),
                    state.entries[index].start <= now, now < state.entries[index].end,
                    fault.applies(to: operation, platform: platform, tags: tags), state.entries[index].hits(draw),
                    let hit = state.entries[index].hit(operation, now)
                else { continue }
                effect.add(hit)
            }
            state.entries.removeAll { $0.isSpent || $0.end <= now }
            return effect
        }
    }
}

/// The sends per minute and namespace of each tier of the service.
///
/// Unofficial: a person of the service gave these numbers in a forum; there is no official table.
enum ThrottleTier: String, CaseIterable, Sendable {
    case free, basic, standard

    var sendsPerMinute: Int {
        switch self {
        case .free: 100
        case .basic: 900
        case .standard: 11_500
        }
    }
}

/// The number of sends in the current minute, which begins with a send.
struct ThrottleWindow: Equatable, Sendable {
    private static let length: Int64 = 60_000

    private var start: Int64 = 0
    private var count = 0

    /// Counts one more send.
    ///
    /// - Returns: nil when the tier allows it, else the whole seconds until the next minute.
    mutating func take(_ tier: ThrottleTier, nowMilliseconds now: Int64) -> Int? {
        // The clock may have been set back.
        if count == 0 || now < start || now - start >= Self.length {
            start = now
            count = 0
        }
        guard count >= tier.sendsPerMinute else {
            count += 1
            return nil
        }
        return Int((start + Self.length - now + 999) / 1000)
    }
}

/// `/emulator/faults`: the injected faults.
struct FaultController: Sendable {
    private static let maxBodySize = 16 * 1024

    let faults: FaultTable
    let feed: EventFeed

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("faults") { _, _ in list.response() }
        emulator.post("faults", use: add)
        emulator.delete("faults") { _, _ in
            faults.removeAll()
            return answer()
        }
        emulator.delete("faults/:id", use: remove)
    }

    @Sendable func add(_ request: Request, context: EmulatorContext) async throws -> Response {
        faults.add(try Fault(try await request.body.collect(upTo: Self.maxBodySize)))
        return answer(.created)
    }

    @Sendable func remove(_ request: Request, context: EmulatorContext) async throws -> Response {
        guard let id = context.parameters.get("id").flatMap({ Int($0) }), faults.remove(id: id) else {
            throw Problem.notFound("There is no fault with this ID. GET /emulator/faults lists them.")
        }
        return answer()
    }

    private var list: JSONValue { .array(faults.all.map(\.json)) }

    /// The response to a change: all faults, which the page gets too.
    private func answer(_ status: HTTPResponse.Status = .ok) -> Response {
        let list = list
        feed.publish(.faults, list)
        return list.response(status)
    }
}
