package import Foundations

/// The refresh tokens that descend from one log-in (RFC 9700, section 4.14: a token family).
///
/// Each refresh replaces the token. Only the newest one and the one before it are stored, as hashes. Any other token of
/// the family has been used before.
package struct RefreshFamily: Sendable, Hashable {
    /// Random bytes, which each token of the family contains.
    package var id: [UInt8]
    package var owner: UserName
    /// The user's entry in the file of users at the log-in, as a fingerprint. A change of the password changes it.
    package var userEntry: String
    /// SHA-256 of the newest token's secret.
    package var tokenHash: [UInt8]
    /// When the newest token expires.
    package var expiresAt: Timestamp
    /// The token that the newest one has replaced; `nil` before the first refresh.
    package var replaced: ReplacedToken?

    /// A token that was used.
    package struct ReplacedToken: Sendable, Hashable {
        /// SHA-256 of its secret.
        package var hash: [UInt8]
        /// When it was used first.
        package var usedAt: Timestamp

        package init(hash: [UInt8], usedAt: Timestamp) {
            self.hash = hash
            self.usedAt = usedAt
        }
    }

    package init(id: [UInt8], owner: UserName, userEntry: String, tokenHash: [UInt8], expiresAt: Timestamp) {
        self.id = id
        self.owner = owner
        self.userEntry = userEntry
        self.tokenHash = tokenHash
        self.expiresAt = expiresAt
    }

    /// The maximum number of families per user. One more log-in removes the family that expires first.
    package static let maxPerUser = 100
}

package protocol RefreshTokenStore: Sendable {
    /// Stores a new family. If the user has ``RefreshFamily/maxPerUser`` of them, those that expire first are removed.
    func add(_ family: RefreshFamily) async throws

    /// The family with this ID, even if its token has expired.
    func refreshFamily(_ id: [UInt8]) async throws -> RefreshFamily?

    /// Replaces the token of a family if the stored hash is `hash` and has not expired at `now`. Of several calls with
    /// one hash, one succeeds.
    ///
    /// - Parameter family: has the new hash, the new expiry and the token that was replaced; owner and entry stay as
    ///   they are stored.
    /// - Returns: whether the token was replaced.
    func renew(_ family: RefreshFamily, replacing hash: [UInt8], now: Timestamp) async throws -> Bool

    /// Removes a family, so that none of its tokens can be used. It is not an error if there is none.
    func removeRefreshFamily(_ id: [UInt8]) async throws

    /// Removes families that have expired at `now`.
    ///
    /// - Returns: the number of removed families, at most `limit`.
    func purgeRefreshFamilies(limit: Int, now: Timestamp) async throws -> Int
}
