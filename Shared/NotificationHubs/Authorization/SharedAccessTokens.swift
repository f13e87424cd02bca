import Logging
import SecurePushCore
import Synchronization

/// One token, and its number among those made: a cheap way to see that it is another one.
struct SharedAccessToken: Sendable {
    var text: String
    var number: Int
    var renewAt: Timestamp
}

/// The current token: good for an hour, renewed after two thirds of it, dropped when the hub refuses it or the
/// credentials change.
///
/// The machine's clock is taken as right until the hub refuses a token and tells another time (`Date`, RFC 9110 section
/// 6.6.1): expiries are then set by the hub's clock.
final class SharedAccessTokens: Sendable {
    private let credentials: HubCredentials
    private let lifetime: Duration
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    private struct State {
        var token: SharedAccessToken?
        var version: HubCredentials.Version?
        var made = 0
        /// How far the hub's clock is ahead of ours.
        var offset = Duration.zero
    }

    /// A `Date` is whole seconds, and an answer takes its time: less than this is no difference of clocks.
    private static let minOffset = Duration.seconds(60)
    /// More than a day is no clock that is wrong but a header that is.
    private static let maxOffset = Duration.seconds(86_400)

    init(
        configuration: NotificationHubConfiguration, logger: Logger = Logger(label: "hub"),
        lifetime: Duration = .seconds(3600), clock: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        credentials = HubCredentials(configuration: configuration, logger: logger)
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The token to use now.
    var current: SharedAccessToken {
        let now = clock()
        let version = credentials.current
        return state.withLock { state in
            if let token = state.token, now < token.renewAt, state.version === version { return token }
            return make(&state, version, now: now)
        }
    }

    private func make(_ state: inout State, _ version: HubCredentials.Version, now: Timestamp) -> SharedAccessToken {
        state.made += 1
        let expiry = now + state.offset + lifetime
        let token = SharedAccessToken(
            text: version.signature.token(expiresAt: expiry.seconds), number: state.made,
            renewAt: now + lifetime * 2 / 3)
        state.token = token
        state.version = version
        return token
    }

    /// The hub has refused this token (401): the next request gets a new one. Late refusals of an older one change
    /// nothing, so that many requests in flight cost one new token.
    ///
    /// - Parameter hubTime: the time that the refusal tells.
    func invalidate(_ number: Int, hubTime: Timestamp? = nil) {
        let now = clock()
        let isCurrent = state.withLock { state in
            guard state.token?.number == number else { return false }
            state.token = nil
            if let hubTime { state.offset = Self.offset(hubTime - now) }
            return true
        }
        // What is in the file may be newer than the last look at it.
        if isCurrent { _ = credentials.refreshed() }
    }

    /// Reads the file of the connection string again, now: the next request is signed with what is in it.
    func reload() { _ = credentials.refreshed() }

    private static func offset(_ difference: Duration) -> Duration {
        let size = difference < .zero ? .zero - difference : difference
        return size >= minOffset && size <= maxOffset ? difference : .zero
    }
}
