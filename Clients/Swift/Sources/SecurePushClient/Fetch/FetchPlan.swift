import Foundation

/// Decides after each try of a request whether to try again. It waits for nothing itself.
///
/// A request is repeated after errors that can heal: no connection, a time-out, 408, 429 and 5xx. After 401 the
/// credentials are refreshed once. Everything else is final.
struct FetchPlan: Sendable {
    /// The end of a try.
    enum Event: Sendable, Equatable {
        /// `retryAfter` is in seconds.
        case response(status: Int, retryAfter: TimeInterval?)
        case transport(TransportError)
        /// The credentials cannot be read or refreshed now.
        case noCredentials
    }

    enum Step: Sendable, Equatable {
        case retry(after: TimeInterval)
        case refreshCredentials
        case finish
    }

    /// The ``ClientClock/uptime`` at which everything ends.
    let deadline: TimeInterval
    let secondsPerTry: TimeInterval
    private var retries = 0
    private var hasRefreshed = false

    init(deadline: TimeInterval, secondsPerTry: TimeInterval) {
        self.deadline = deadline
        self.secondsPerTry = secondsPerTry
    }

    /// The time-out of a try that begins now; `nil` if there is no time for one.
    func timeout(at uptime: TimeInterval) -> TimeInterval? {
        let left = left(at: uptime)
        return left >= Self.shortestTry ? min(left, secondsPerTry) : nil
    }

    mutating func step(after event: Event, at uptime: TimeInterval) -> Step {
        switch event {
        case .transport(.unreachable), .transport(.timedOut), .noCredentials: return retry(after: nil, at: uptime)
        case .transport(.untrusted), .transport(.tooLarge): return .finish
        case .response(401, _):
            if hasRefreshed { return .finish }
            hasRefreshed = true
            return .refreshCredentials
        case .response(408, let seconds), .response(429, let seconds), .response(500...599, let seconds):
            return retry(after: seconds, at: uptime)
        case .response: return .finish
        }
    }

    /// The delays fit four quick tries into the total time (lesson of other apps: 1, 2, 3, 5, 8 s).
    private mutating func retry(after wanted: TimeInterval?, at uptime: TimeInterval) -> Step {
        let usual = Self.delays[min(retries, Self.delays.count - 1)]
        let delay = max(usual, wanted ?? 0)
        guard delay + Self.shortestTry <= left(at: uptime) else { return .finish }
        retries += 1
        return .retry(after: delay)
    }

    /// The time until the deadline, in whole milliseconds: sums of seconds are not exact.
    private func left(at uptime: TimeInterval) -> TimeInterval { ((deadline - uptime) * 1_000).rounded() / 1_000 }

    private static let delays: [TimeInterval] = [1, 2, 3, 5]
    /// The shortest time for a try, in seconds. A shorter one only costs battery.
    private static let shortestTry: TimeInterval = 0.5
}

extension TransportError {
    /// The code for support.
    var code: DiagnosticCode {
        switch self {
        case .unreachable: .unreachable
        case .timedOut: .timedOut
        case .untrusted: .untrusted
        case .tooLarge: .tooLarge
        }
    }
}
