/// How many sends a minute each tier of the service takes for a namespace.
///
/// Unofficial: numbers that a person of the service gave in a forum; there is no official table.
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

/// The sends of the current minute, counted from the first one.
struct ThrottleWindow: Equatable, Sendable {
    private static let length: Int64 = 60_000

    private var start: Int64 = 0
    private var count = 0

    /// Takes one more send.
    ///
    /// - Returns: nil when the tier allows it, else the whole seconds until it does again.
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
