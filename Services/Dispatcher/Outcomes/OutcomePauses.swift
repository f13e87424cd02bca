import Foundations

/// The pauses of the hubs that are not asked for outcomes at the moment, by the names of the hubs. One hub's pause does
/// not stop the questions to the others.
struct OutcomePauses: Sendable {
    private struct Hub {
        /// The time from which the hub may be asked again.
        var until = Timestamp(milliseconds: 0)
        /// Failures in a row.
        var failures = 0
        /// Refusals in a row.
        var refusals = 0
        /// Whether it has answered a question of this page.
        var isAnswering = false
    }

    /// Failures in a row after which a hub counts as away. Fewer are those of single messages.
    private static let maxFailures = 10
    /// The pause of a hub that is unavailable, and of one that throttles without a time.
    private static let usual = Duration.seconds(30)
    private static let range: ClosedRange<Duration> = .seconds(1) ... .seconds(600)
    /// The pauses after refusals in a row: the first may pass, such as a key that is being exchanged.
    private static let afterRefusal: [Duration] = [.seconds(60), .seconds(1800)]

    private var hubs: [String: Hub] = [:]

    /// Whether a hub is not asked at this time.
    func isPaused(_ hub: String, now: Timestamp) -> Bool { until(hub) > now }

    /// The rest of the pause that all these hubs have; `nil` if one of them may be asked.
    func pause(of names: [String], now: Timestamp) -> Duration? {
        guard let end = names.map(until).min(), end > now else { return nil }
        return end - now
    }

    private func until(_ hub: String) -> Timestamp { hubs[hub]?.until ?? Timestamp(milliseconds: 0) }

    /// Forgets the hubs that have left.
    mutating func keep(_ names: [String]) {
        hubs = hubs.filter { names.contains($0.key) }
    }

    mutating func answered(_ hub: String) {
        hubs[hub, default: Hub()].failures = 0
        hubs[hub, default: Hub()].isAnswering = true
    }

    mutating func failed(_ hub: String) {
        hubs[hub, default: Hub()].failures += 1
    }

    /// - Parameter pause: the pause that the hub asks for, if it names one.
    mutating func throttled(_ hub: String, for pause: Duration?, now: Timestamp) {
        self.pause(hub, for: min(max(pause ?? Self.usual, Self.range.lowerBound), Self.range.upperBound), now: now)
    }

    /// - Returns: the pause, and whether it is the first of several refusals in a row.
    mutating func refused(_ hub: String, now: Timestamp) -> (pause: Duration, isFirst: Bool) {
        let refusals = hubs[hub]?.refusals ?? 0
        let pause = Self.afterRefusal[min(refusals, Self.afterRefusal.count - 1)]
        hubs[hub, default: Hub()].refusals = min(refusals + 1, Self.afterRefusal.count)
        self.pause(hub, for: pause, now: now)
        return (pause, refusals == 0)
    }

    /// Pauses the hubs that are away. The order of the answers to one group means nothing, so this comes after all.
    mutating func endGroup(now: Timestamp) {
        for (name, hub) in hubs where hub.failures >= Self.maxFailures {
            hubs[name]?.failures = 0
            pause(name, for: Self.usual, now: now)
        }
    }

    /// A hub that has answered a whole page does not refuse any more.
    mutating func endPage(now: Timestamp) {
        for (name, hub) in hubs {
            if hub.isAnswering, hub.until <= now { hubs[name]?.refusals = 0 }
            hubs[name]?.isAnswering = false
        }
    }

    /// A shorter pause does not end a longer one.
    private mutating func pause(_ hub: String, for pause: Duration, now: Timestamp) {
        let end = max(until(hub), now + pause)
        hubs[hub, default: Hub()].until = end
    }
}
