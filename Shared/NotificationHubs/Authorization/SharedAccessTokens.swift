import SecurePushCore
import Synchronization

/// One token, and its number among those made: a cheap way to see that it is another one.
struct SharedAccessToken: Sendable {
    var text: String
    var number: Int
    var renewAt: Timestamp
}

/// The current token: good for an hour, renewed after two thirds of it, dropped when the hub refuses it.
///
/// The machine's clock is taken as right. A clock that is wrong by more than twenty minutes makes the hub answer 401;
/// nothing here learns the hub's time from its answers.
final class SharedAccessTokens: Sendable {
    private let signature: SharedAccessSignature
    private let lifetime: Duration
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    private struct State {
        var token: SharedAccessToken?
        var made = 0
    }

    init(
        configuration: NotificationHubConfiguration, lifetime: Duration = .seconds(3600),
        clock: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        signature = SharedAccessSignature(
            resource: configuration.resource, keyName: configuration.keyName, key: configuration.key)
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The token to use now.
    var current: SharedAccessToken {
        let now = clock()
        return state.withLock { state in
            if let token = state.token, now < token.renewAt { return token }
            state.made += 1
            let token = SharedAccessToken(
                text: signature.token(expiresAt: (now + lifetime).seconds), number: state.made,
                renewAt: now + lifetime * 2 / 3)
            state.token = token
            return token
        }
    }

    /// The hub has refused this token (401): the next request gets a new one. Late refusals of an older one change
    /// nothing, so that many requests in flight cost one new token.
    func invalidate(_ number: Int) {
        state.withLock { state in
            if state.token?.number == number { state.token = nil }
        }
    }
}
