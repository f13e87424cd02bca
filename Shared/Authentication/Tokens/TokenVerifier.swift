internal import Domain
internal import Foundations
internal import Logging
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

    /// The files, and then the URL.
    private let sources: [VerificationKeySource]
    /// The claims that may name the user. Without a source none is used, and every token is refused by its signature.
    private let userClaims: Set<String>
    private let remote: RemoteKeySet?
    private let refusals: TokenRefusalLog
    private let users: ReloadingFile<UserPasswords>?
    private let issuer: String?
    private let audience: String?
    private let now: @Sendable () -> Timestamp
    private let cache = Mutex(GenerationalCache<CacheKey, Accepted>(capacity: 4096))

    init(
        sources: [VerificationKeySource], remote: RemoteKeySet?, usernameClaim: String,
        users: ReloadingFile<UserPasswords>?, issuer: String?, audience: String?, refusals: TokenRefusalLog,
        now: @escaping @Sendable () -> Timestamp
    ) {
        let remoteSource = remote.map { remote in
            VerificationKeySource(
                current: { remote.current }, refreshed: { remote.current }, isUsable: { true }, userClaim: usernameClaim
            )
        }
        self.sources = sources + (remoteSource.map { [$0] } ?? [])
        userClaims = self.sources.isEmpty ? [TokenClaims.ownUserClaim] : Set(self.sources.map(\.userClaim))
        self.remote = remote
        self.refusals = refusals
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

    /// Verifies a token and caches it. Why it is refused is in the log.
    func verify(_ text: Substring, _ key: CacheKey) async throws(AuthenticationError) -> UserName {
        var keyID: String?
        do throws(AuthenticationError) {
            let token: JSONWebToken
            do { token = try JSONWebToken(text, userClaims: userClaims, noting: &keyID) } catch {
                if error.code == .tooLong { throw AuthenticationError(.tooLong, error.message + ".") }
                throw Self.refusal(error.code, error.message)
            }
            try check(token.claims)
            let accepted = try await verifySignature(token)
            try await checkUser(accepted.claims)
            cache.withLock { $0.insert(accepted, for: key) }
            return accepted.claims.subject
        } catch {
            if error.code != .unavailable, error.message != Self.invalidSignature + "." {
                refusals.note(error.message, keyID: keyID)
            }
            throw error
        }
    }

    private func verifySignature(_ token: JSONWebToken) async throws(AuthenticationError) -> Accepted {
        let files = remote == nil ? sources.indices : sources.indices.dropLast()
        if let accepted = try await signer(of: token, among: files) { return accepted }
        if let remote {
            let last = files.endIndex..<sources.endIndex
            await remote.renewIfOld()
            if let accepted = try await signer(of: token, among: last) { return accepted }
            // The key may be new, or have replaced another one of the same ID. A key of ours is not looked for there.
            if !hasKey(of: token, among: files) {
                let isFresh = await remote.refresh()
                if let accepted = try await signer(of: token, among: last) { return accepted }
                guard isFresh else {
                    throw AuthenticationError(.unavailable, "The keys for verifying tokens cannot be fetched.")
                }
            }
        }
        guard sources.allSatisfy({ $0.isUsable() }) else { throw .credentialsUnusable }
        refusals.note(missingSigner(of: token), keyID: token.header.keyID)
        throw Self.refusal(.invalid, Self.invalidSignature)
    }

    private func signer(
        of token: JSONWebToken, among indices: Range<Int>
    ) async throws(AuthenticationError) -> Accepted? {
        for index in indices {
            guard let keySet = await sources[index].refreshed() else { continue }
            for key in keySet.candidates(token.header) {
                if await key.isValid(token.signature, of: token.signedBytes, with: token.header.algorithm) {
                    // Which claim names the user depends on whose key it is: no token may choose.
                    guard let user = token.users[sources[index].userClaim] else {
                        throw Self.refusal(.invalid, JSONWebToken.Malformed.noUser.message)
                    }
                    var claims = token.claims
                    claims.subject = user
                    return Accepted(claims: claims, keySet: keySet, source: index)
                }
            }
        }
        return nil
    }

    private func hasKey(of token: JSONWebToken, among indices: Range<Int>) -> Bool {
        guard let keyID = token.header.keyID else { return false }
        return indices.contains { sources[$0].current()?.contains(keyID: keyID) ?? false }
    }

    /// Why no key has verified a token, for operators. The caller gets the same message in all cases.
    private func missingSigner(of token: JSONWebToken) -> String {
        let isCandidate = sources.contains { !($0.current()?.candidates(token.header) ?? []).isEmpty }
        switch (token.header.keyID != nil, isCandidate) {
        case (_, true): return "The signature is not that of the key"
        case (false, false): return "The token has no kid, and no key is for its algorithm"
        case (true, false):
            let isKnown = hasKey(of: token, among: sources.indices)
            return isKnown ? "The key of the kid is not for the token's algorithm" : "No key has the kid"
        }
    }

    private static let invalidSignature = "The token's signature is not valid"

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
