package import Domain
package import Foundations
import Synchronization

/// Shares tokens within one process.
package final class LocalPushTokens: SharedPushTokens {
    private let tokens = Mutex<[String: SharedPushToken]>([:])

    package init() {}

    package func token(of key: String) -> (token: SharedPushToken?, now: Timestamp) {
        (tokens.withLock { $0[key] }, .now)
    }

    package func replace(
        tokenIssuedAt issuedAt: Timestamp?, by token: SharedPushToken, of key: String
    ) -> SharedPushToken {
        tokens.withLock { tokens in
            if let stored = tokens[key], stored.issuedAt != issuedAt { return stored }
            tokens[key] = token
            return token
        }
    }
}
