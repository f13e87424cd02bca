public import Logging
import Synchronization

/// Logs a problem that lasts: when it begins, once a minute while it goes on, and when it is over.
///
/// While a server is away the same thing fails many times a second; a line for each would bury everything else.
public final class LastingProblemLog: Sendable {
    /// Between two lines about a problem that goes on.
    public static let interval = Duration.seconds(60)
    /// Between a line and the one about the problem's next beginning: a problem may come and go many times a second.
    public static let minInterval = Duration.seconds(10)

    private struct State {
        /// Failures since the last line.
        var unlogged = 0
        /// Failures since the problem began.
        var failures = 0
        var lastLine: ContinuousClock.Instant?
        /// Whether a line has told that the problem is there.
        var isLogged = false
    }

    private let message: Logger.Message
    private let end: Logger.Message
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - message: says that the problem is there; logged as a warning.
    ///   - end: says that it is over; logged as a notice.
    ///   - now: the time; tests have their own.
    public init(
        _ message: Logger.Message, end: Logger.Message,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.message = message
        self.end = end
        self.now = now
    }

    /// It has failed. Logs a line if one is due, with the number of failures that had none.
    ///
    /// - Parameter error: must be fit for the log: nothing of a payload or a credential.
    public func failed(_ error: String, to logger: Logger, metadata: Logger.Metadata = [:]) {
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
        metadata["error"] = "\(error)"
        if unlogged > 0 { metadata["unlogged_failures"] = "\(unlogged)" }
        logger.warning(message, metadata: metadata)
    }

    /// It has succeeded. Logs a line if there was one about the problem.
    public func succeeded(to logger: Logger) {
        let failures: Int? = state.withLock { state in
            defer { (state.failures, state.isLogged) = (0, false) }
            return state.isLogged ? state.failures : nil
        }
        if let failures { logger.notice(end, metadata: ["failures": "\(failures)"]) }
    }
}
