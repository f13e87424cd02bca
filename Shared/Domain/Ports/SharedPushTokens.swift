package import Foundations

/// A token of a push service as it is stored, encrypted by its key: only a process with its signing key can open it.
///
/// Decision: docs/decisions/0039-one-apns-token-for-all-processes.md
package struct SharedPushToken: Sendable, Hashable {
    /// By the clock of the store.
    package var issuedAt: Timestamp
    package var sealed: [UInt8]

    package init(issuedAt: Timestamp, sealed: [UInt8]) {
        self.issuedAt = issuedAt
        self.sealed = sealed
    }
}

/// The store in which the processes of a hub share the tokens of their keys. APNs accepts a new token of a team only
/// every 20 minutes, so the processes cannot make their own.
package protocol SharedPushTokens: Sendable {
    /// Whether this process only reads tokens, as a command does. Then the others renew them.
    var isReadOnly: Bool { get }

    /// The token that is stored, and the time by the clock that all processes share.
    ///
    /// - Parameter key: names the key that the tokens are signed with.
    func token(of key: String) async throws -> (token: SharedPushToken?, now: Timestamp)

    /// Stores a token in place of the one that was read; another process may have been faster.
    ///
    /// - Parameter issuedAt: that of the token that was read; `nil` if there was none.
    /// - Returns: the token that is stored now.
    func replace(tokenIssuedAt issuedAt: Timestamp?, by token: SharedPushToken, of key: String) async throws
        -> SharedPushToken
}

extension SharedPushTokens {
    package var isReadOnly: Bool { false }
}
