import Foundations
import PushServices
import Storage

/// Shares the tokens of push services through the hub's tables.
struct StoredPushTokens: SharedPushTokens {
    let tables: HubTables
    var isReadOnly = false

    func token(of key: String) async throws -> (token: SharedPushToken?, now: Timestamp) {
        let (stored, now) = try await tables.pushToken(of: key)
        return (stored.map { SharedPushToken(issuedAt: $0.issuedAt, sealed: $0.sealed) }, now)
    }

    func replace(
        tokenIssuedAt issuedAt: Timestamp?, by token: SharedPushToken, of key: String
    ) async throws -> SharedPushToken {
        if isReadOnly { return token }
        let mine = HubPushToken(issuedAt: token.issuedAt, sealed: token.sealed)
        let stored = try await tables.replacePushToken(issuedAt: issuedAt, by: mine, of: key)
        return SharedPushToken(issuedAt: stored.issuedAt, sealed: stored.sealed)
    }
}
