internal import Logging
internal import SecurePushCore
internal import Synchronization

/// Verifies tokens with all trusted keys: those of the key set's file, of the key set's URL, and our own signing key.
///
/// A device presents the same token many times, so verified tokens are cached, without their text. When the key set of
/// a cached token changes, the token is verified again. Its times, and the user's entry that it is bound to, are
/// checked on every use.
final class TokenVerifier: Sendable {
    /// How far the clock of an issuer may be off.
    static let leeway = Duration.seconds(30)

    private struct Accepted {
        let claims: TokenClaims
        let keySet: VerificationKeySet
        let source: Int
    }

    private let sources: [VerificationKeySource]
    private let remote: RemoteKeySet?
    private let users: ReloadingFile<UserPasswords>?
    private let issuer: String?
    private let audience: String?
    private let now: @Sendable () -> Timestamp
    private let cache = Mutex(GenerationalCache<CacheKey, Accepted>(capacity: 4096))

    init(
        sources: [VerificationKeySource], remote: RemoteKeySet?, users: ReloadingFile<UserPasswords>?,
        issuer: String?, audience: String?, now: @escaping @Sendable () -> Timestamp
    ) {
        let remoteSource = remote.map { remote in
            VerificationKeySource(
                current: { remote.current }, refreshed: { remote.current }, isUsable: { true })
        }
        self.sources = sources + (remoteSource.map { [$0] } ?? [])
        self.remote = remote
        self.users = users
        self.issuer = issuer
        self.audience = audience
        self.now = now
    }

    /// The user of a token that was verified before and is still valid.
    func remembered(_ key: CacheKey) -> UserName? {
        guard let accepted = cache.withLock({ $0.value(for: key) }) else { return nil }
        guard sources[accepted.source].current() === accepted.keySet, timeProblem(accepted.claims) == nil,
            isBound(accepted.claims, to: users?.usable)
        else {
            cache.withLock { $0.remove(key) }
            return nil
        }
        return accepted.claims.subject
    }

    /// Verifies a token and caches it.
    func verify(_ text: Substring, _ key: CacheKey) async throws(AuthenticationError) -> UserName {
        let token: JSONWebToken
        do { token = try JSONWebToken(text) } catch {
            throw Self.refusal(.malformed, error.message)
        }
        try check(token.claims)
        var accepted = await verifySignature(token)
        if accepted == nil, let remote, needsFetch(token, remote) {
            let isFresh = await remote.refresh()
            accepted = await verifySignature(token)
            if accepted == nil, !isFresh {
                throw AuthenticationError(.unavailable, "The keys for verifying tokens cannot be fetched.")
            }
        }
        guard let accepted else {
            guard sources.allSatisfy({ $0.isUsable() }) else { throw .credentialsUnusable }
            throw Self.refusal(.invalid, "The token's signature is not valid")
        }
        try await checkUser(token.claims)
        cache.withLock { $0.insert(accepted, for: key) }
        return accepted.claims.subject
    }

    private func verifySignature(_ token: JSONWebToken) async -> Accepted? {
        for (index, source) in sources.enumerated() {
            guard let keySet = await source.refreshed() else { continue }
            for key in keySet.candidates(token.header) {
                if await key.isValid(token.signature, of: token.signedBytes, with: token.header.algorithm) {
                    return Accepted(claims: token.claims, keySet: keySet, source: index)
                }
            }
        }
        return nil
    }

    private func needsFetch(_ token: JSONWebToken, _ remote: RemoteKeySet) -> Bool {
        guard remote.current != nil else { return true }
        guard let keyID = token.header.keyID else { return false }
        return !sources.contains { source in source.current()?.contains(keyID: keyID) ?? false }
    }

    private func check(_ claims: TokenClaims) throws(AuthenticationError) {
        if let problem = timeProblem(claims) { throw problem }
        if let issuer, claims.issuer.map({ $0.utf8.elementsEqual(issuer.utf8) }) != true {
            throw Self.refusal(.invalid, "The token is from another issuer")
        }
        if let audience, !claims.audiences.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) {
            throw Self.refusal(.invalid, "The token is for another audience")
        }
    }

    /// A token that was issued here for a password ends with the password: when the user is removed from the users'
    /// file or gets another password.
    private func checkUser(_ claims: TokenClaims) async throws(AuthenticationError) {
        guard let users, claims.userEntry != nil else { return }
        // A change of the file has an effect at once.
        if isBound(claims, to: users.usable) { return }
        await users.check()
        guard let passwords = users.usable else { throw .credentialsUnusable }
        guard isBound(claims, to: passwords) else {
            throw Self.refusal(.invalid, "The user of the token was removed or has another password")
        }
    }

    private func isBound(_ claims: TokenClaims, to passwords: UserPasswords?) -> Bool {
        guard users != nil, let entry = claims.userEntry else { return true }
        return passwords?.fingerprint(of: claims.subject) == entry
    }

    /// Checks `exp` and `nbf` (RFC 7519, 4.1.4 and 4.1.5).
    private func timeProblem(_ claims: TokenClaims) -> AuthenticationError? {
        let now = now()
        if now >= claims.expiresAt + Self.leeway { return Self.refusal(.expired, "The token has expired") }
        if let notBefore = claims.notBefore, now < notBefore - Self.leeway {
            return Self.refusal(.invalid, "The token is not valid yet")
        }
        return nil
    }

    private static func refusal(_ code: AuthenticationError.Code, _ message: String) -> AuthenticationError {
        AuthenticationError(code, message + ".", challenges: [Challenge.invalidToken(message)])
    }
}
