internal import Foundations
internal import Logging
internal import Synchronization

/// Logs why tokens are refused, which callers are not told: the reason and the `kid`, and nothing else of a token.
///
/// Anyone can send tokens, so each reason has some lines at once and then one in a few seconds. The others are counted.
final class TokenRefusalLog: Sendable {
    /// The lines of one reason that can follow each other at once.
    static let burst = 10
    /// The time after which a reason has one more line.
    static let interval = Duration.seconds(6)
    /// How much of a `kid` is logged, in characters.
    static let maxKeyID = 64

    private struct Lines {
        var left = TokenRefusalLog.burst
        var counted: ContinuousClock.Instant
        var dropped = 0
    }

    /// By reason, of which there are about a dozen.
    private let lines = Mutex<[String: Lines]>([:])
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.logger = logger
        self.now = now
    }

    /// - Parameter reason: a constant text.
    func note(_ reason: String, keyID: String?) {
        guard let dropped = take(reason, at: now()) else { return }
        var metadata: Logger.Metadata = ["reason": "\(reason)"]
        if let keyID { metadata["kid"] = "\(Self.shown(keyID))" }
        if dropped > 0 { metadata["not_logged"] = "\(dropped)" }
        logger.info("A token was refused", metadata: metadata)
    }

    /// - Returns: the number of lines of this reason that were dropped since the last one; `nil` if this one is
    ///   dropped.
    private func take(_ reason: String, at now: ContinuousClock.Instant) -> Int? {
        lines.withLock { lines in
            var own = lines[reason] ?? Lines(counted: now)
            defer { lines[reason] = own }
            let more = Int(min((now - own.counted) / Self.interval, Double(Self.burst)))
            if more > 0 { (own.left, own.counted) = (min(own.left + more, Self.burst), now) }
            guard own.left > 0 else {
                own.dropped += 1
                return nil
            }
            own.left -= 1
            defer { own.dropped = 0 }
            return own.dropped
        }
    }

    /// The text in printable ASCII. A `kid` is the sender's text: it could imitate a line, or hide something.
    static func shown(_ keyID: String) -> String {
        let scalars = keyID.unicodeScalars
        let text = scalars.prefix(maxKeyID).map { scalar in
            (0x20...0x7E).contains(scalar.value) && scalar != "\\" ? String(scalar) : scalar.escaped(asASCII: true)
        }
        return text.joined() + (scalars.count > maxKeyID ? "…" : "")
    }
}
