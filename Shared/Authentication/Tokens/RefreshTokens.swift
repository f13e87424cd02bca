internal import Crypto
package import Domain
package import Foundations
package import Logging
internal import Metrics

/// Issues refresh tokens (RFC 6749, section 6) and exchanges them for new tokens (`AUTH_REFRESH_TTL`).
///
/// A refresh token is used once: the exchange replaces it. If a token is used again, either the thief or the device has
/// an old one, so all tokens of its family end (RFC 9700, section 4.14). The exception is a device that did not get the
/// answer: for ``grace`` a token is exchanged again for the same successor, unless that was used. The successor is
/// derived from the token, so the store has only hashes of tokens. A user who was removed from the users' file, or who
/// has another password now, cannot refresh.
///
/// Decision: docs/decisions/0019-refresh-tokens.md
package struct RefreshTokens: Sendable {
    private enum Result: String, CaseIterable { case ok, repeated, reused, refused }

    /// How long after its use a token is accepted again.
    static let grace = Duration.seconds(60)
    /// How often a refresh starts again because another one has changed the family.
    private static let maxTurns = 4

    private let store: any RefreshTokenStore
    private let issuer: TokenIssuer
    private let ttl: Duration
    private let logger: Logger
    private let counters: [Result: Counter]

    /// Makes the part for a service.
    ///
    /// - Returns: `nil` if the configuration has no lifetime of refresh tokens, or if no tokens are issued.
    package init?(
        configuration: UserAuthenticationConfiguration, issuer: TokenIssuer?, store: any RefreshTokenStore,
        logger: Logger
    ) {
        guard let ttl = configuration.refreshTTL, let issuer else { return nil }
        self.store = store
        self.issuer = issuer
        self.ttl = ttl
        self.logger = logger
        let counters = Result.allCases.map { result in
            let dimensions = [("result", result.rawValue)]
            return (result, Counter(label: "securepush_token_refreshes_total", dimensions: dimensions))
        }
        self.counters = Dictionary(uniqueKeysWithValues: counters)
    }

    /// The first tokens of a user who has just logged in with a password.
    ///
    /// - Parameter entry: the entry of the log-in; `nil` for the user's current one.
    /// - Throws: ``AuthenticationError`` as ``TokenIssuer/issue(to:entry:now:expiresAt:)``, ``StorageError``.
    package func begin(for user: UserName, entry: String? = nil, now: Timestamp = .now) async throws -> TokenPair {
        let entry = try entry ?? issuer.userEntry(of: user)
        let access = try issuer.issue(to: user, entry: entry, now: now)
        let token = RefreshToken(
            family: SystemRandomNumberGenerator.bytes(RefreshToken.familyBytes),
            secret: SystemRandomNumberGenerator.bytes(RefreshToken.secretBytes))
        try await store.add(
            RefreshFamily(
                id: token.family, owner: user, userEntry: entry, tokenHash: token.hash, expiresAt: now + ttl))
        return TokenPair(user: user, access: access, refresh: token.text)
    }

    /// Exchanges a refresh token.
    ///
    /// - Parameter owner: gets the user of a token that is known, even if it is refused.
    /// - Throws: ``AuthenticationError``: `invalid` if the token cannot be used, `unavailable` if the users' file or
    ///   the signing key cannot be used, so that the token stays valid; ``StorageError``.
    package func refresh(
        _ text: String, now: Timestamp = .now, owner: (UserName) -> Void = { _ in }
    ) async throws -> TokenPair {
        guard let token = RefreshToken(text) else { throw refusal(.refused) }
        for _ in 0..<Self.maxTurns {
            guard let family = try await store.refreshFamily(token.family) else { throw refusal(.refused) }
            owner(family.owner)
            if let tokens = try await exchange(token, of: family, now: now) { return tokens }
        }
        throw AuthenticationError(.unavailable, "The refresh token is in use.")
    }

    /// - Parameter family: as it was read a moment ago.
    /// - Returns: `nil` if another exchange has changed the family meanwhile. Its token may be the same one.
    private func exchange(_ token: RefreshToken, of family: RefreshFamily, now: Timestamp) async throws -> TokenPair? {
        let isRepeated = family.replaced.map { $0.hash == token.hash && now < $0.usedAt + Self.grace } ?? false
        guard isRepeated || family.tokenHash == token.hash else { throw try await endReused(family) }
        guard family.expiresAt > now else { throw refusal(.refused) }
        guard let access = try accessToken(for: family, now: now) else {
            try await store.removeRefreshFamily(family.id)
            throw refusal(.refused)
        }
        let next = RefreshToken(family: family.id, secret: try issuer.successor(of: token.bytes))
        var renewed = family
        renewed.tokenHash = next.hash
        if !isRepeated {
            renewed.replaced = RefreshFamily.ReplacedToken(hash: token.hash, usedAt: now)
            renewed.expiresAt = now + ttl
        }
        // A repeated use changes nothing, unless the signing key was replaced since: then the token that nobody has
        // used gives way to its successor under the new key.
        if renewed != family {
            guard try await store.renew(renewed, replacing: family.tokenHash, now: now) else { return nil }
        }
        counters[isRepeated ? .repeated : .ok]?.increment()
        return TokenPair(user: family.owner, access: access, refresh: next.text)
    }

    /// Ends the family of a token. A token that is not known changes nothing.
    ///
    /// - Returns: the user of the token; `nil` if it is not known.
    @discardableResult package func end(_ text: String) async throws -> UserName? {
        guard let token = RefreshToken(text), let family = try await store.refreshFamily(token.family) else {
            return nil
        }
        try await store.removeRefreshFamily(token.family)
        return family.owner
    }

    /// Removes families that have expired.
    ///
    /// - Returns: the number of removed families, at most `limit`.
    package func purge(limit: Int, now: Timestamp = .now) async throws -> Int {
        try await store.purgeRefreshFamilies(limit: limit, now: now)
    }

    /// - Returns: `nil` if the user was removed or has another password than at the log-in.
    private func accessToken(for family: RefreshFamily, now: Timestamp) throws -> IssuedToken? {
        do {
            return try issuer.issue(to: family.owner, entry: family.userEntry, now: now)
        } catch let error as AuthenticationError where error.code == .invalid {
            return nil
        }
    }

    private func endReused(_ family: RefreshFamily) async throws -> AuthenticationError {
        try await store.removeRefreshFamily(family.id)
        logger.warning("A refresh token was used twice; all tokens of its family end")
        return refusal(.reused)
    }

    private func refusal(_ result: Result) -> AuthenticationError {
        counters[result]?.increment()
        let message = "The refresh token cannot be used"
        return AuthenticationError(
            .invalid, message + "; log in again.", challenges: [Challenge.invalidToken(message), Challenge.basic])
    }
}

/// The tokens that a log-in and each refresh return.
package struct TokenPair: Sendable, Equatable {
    package let user: UserName
    package let access: IssuedToken
    /// The refresh token, which can be used once.
    package let refresh: String
}

/// A refresh token: the ID of its family and a secret, in base64url.
private struct RefreshToken {
    static let familyBytes = 16
    static let secretBytes = 32
    /// 48 bytes in base64url, without padding.
    private static let textLength = 64

    let family: [UInt8]
    private let secret: [UInt8]

    init(family: [UInt8], secret: [UInt8]) {
        self.family = family
        self.secret = secret
    }

    /// - Returns: `nil` for a text that cannot be a token.
    init?(_ text: String) {
        guard text.utf8.count == Self.textLength, let bytes = Base64.decode(text, .url),
            bytes.count == Self.familyBytes + Self.secretBytes
        else { return nil }
        family = Array(bytes.prefix(Self.familyBytes))
        secret = Array(bytes.suffix(Self.secretBytes))
    }

    var bytes: [UInt8] { family + secret }

    var text: String { Base64.encode(bytes, .url) }

    /// The secret has 256 bits that nobody can guess, so a plain hash cannot be reversed.
    var hash: [UInt8] { Array(SHA256.hash(data: secret)) }
}
