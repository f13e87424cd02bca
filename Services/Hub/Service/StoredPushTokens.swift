import Domain
import Foundations
import Storage

/// Shares the tokens of push services through the hub's tables.
struct StoredPushTokens: SharedPushTokens {
    let tables: HubTables
    var isReadOnly = false

    func token(of key: String) async throws -> (token: SharedPushToken?, now: Timestamp) {
        try await tables.pushToken(of: key)
    }

    func replace(
        tokenIssuedAt issuedAt: Timestamp?, by token: SharedPushToken, of key: String
    ) async throws -> SharedPushToken {
        isReadOnly ? token : try await tables.replacePushToken(issuedAt: issuedAt, by: token, of: key)
    }
}
