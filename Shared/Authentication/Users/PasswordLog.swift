internal import Logging
internal import Metrics
internal import SecurePushCore
internal import Synchronization

/// What became of the passwords that were presented: counted in `securepush_password_checks_total`, and where many are
/// wrong or refused, one log line per minute.
final class PasswordLog: Sendable {
    enum Result: String, CaseIterable { case accepted, wrong, throttled, busy }

    /// Below this a minute's wrong passwords are slips, and worth no line.
    static let minForLine = 10
    static let interval = Duration.seconds(60)

    private struct Period {
        var counts: [Result: Int] = [:]
        var nextLine: ContinuousClock.Instant?
    }

    private let period = Mutex(Period())
    private let counters: [Result: Counter]
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
        counters = Dictionary(
            uniqueKeysWithValues: Result.allCases.map {
                ($0, Counter(label: "securepush_password_checks_total", dimensions: [("result", $0.rawValue)]))
            })
    }

    func note(_ result: Result, from client: ClientAddress?, at now: ContinuousClock.Instant) {
        counters[result]?.increment()
        guard result != .accepted else { return }
        let counts = period.withLock { period -> [Result: Int]? in
            period.counts[result, default: 0] += 1
            guard period.counts.values.reduce(0, +) >= Self.minForLine, now >= period.nextLine ?? now else {
                return nil
            }
            defer { period = Period(nextLine: now + Self.interval) }
            return period.counts
        }
        guard let counts else { return }
        // No name: a password that is typed in the wrong place would be one.
        var metadata: Logger.Metadata = ["last_client": "\(client.map(\.description) ?? "unknown")"]
        for (result, count) in counts { metadata[result.rawValue] = "\(count)" }
        logger.warning("Many passwords were wrong or refused since the last line of this kind", metadata: metadata)
    }
}
