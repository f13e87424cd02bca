package import Logging
import Synchronization

/// Logs a lasting problem: when it begins, once per minute while it continues, and when it is over.
///
/// While a server is down, the same call fails many times per second. A line for each would hide everything else.
package final class LastingProblemLog: Sendable {
    /// The time between two lines about a problem that continues.
    package static let interval = Duration.seconds(60)
    /// The minimum time between two lines, because a problem may begin and end many times per second.
    package static let minInterval = Duration.seconds(10)

    private struct State {
        /// Failures since the last line.
        var unlogged = 0
        /// Failures since the problem began.
        var failures = 0
        var lastLine: ContinuousClock.Instant?
        /// Whether the beginning of the problem was logged.
        var isLogged = false
    }

    private let message: Logger.Message
    private let end: Logger.Message?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// Makes a log of one problem.
    ///
    /// - Parameters:
    ///   - message: the text while the problem lasts, logged as a warning.
    ///   - end: the text when it is over, logged as a notice; `nil` if nobody sees that.
    ///   - now: the clock; tests use another one.
    package init(
        _ message: Logger.Message, end: Logger.Message? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.message = message
        self.end = end
        self.now = now
    }

    /// Notes a failure. Logs a line if one is due, with the number of failures that were not logged.
    ///
    /// - Parameter error: goes to the log, so it must not hold anything of a payload or a credential.
    package func failed(_ error: String? = nil, to logger: Logger, metadata: Logger.Metadata = [:]) {
        let now = now()
        let unlogged: Int? = state.withLock { state in
            state.failures += 1
            let wait = state.isLogged ? Self.interval : Self.minInterval
            if let lastLine = state.lastLine, now - lastLine < wait {
                state.unlogged += 1
                return nil
            }
            defer { state.unlogged = 0 }
            (state.lastLine, state.isLogged) = (now, true)
            return state.unlogged
        }
        guard let unlogged else { return }
        var metadata = metadata
        if let error { metadata["error"] = "\(error)" }
        if unlogged > 0 { metadata["unlogged_failures"] = "\(unlogged)" }
        logger.warning(message, metadata: metadata)
    }

    /// Notes a success. Logs a line if the problem was logged.
    package func succeeded(to logger: Logger) {
        let failures: Int? = state.withLock { state in
            defer { (state.failures, state.isLogged) = (0, false) }
            return state.isLogged ? state.failures : nil
        }
        if let failures, let end { logger.notice(end, metadata: ["failures": "\(failures)"]) }
    }
}
