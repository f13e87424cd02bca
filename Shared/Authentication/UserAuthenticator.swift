public import Logging
public import SecurePushCore

/// Knows users by a token (`Bearer`, RFC 6750 and 7519) or by a password (`Basic`, RFC 7617).
///
/// The files are read again when they change; one that has become unusable is logged, and what it held last stays in
/// force. The key set's URL is first asked when the first token needs it.
public final class UserAuthenticator: Sendable {
    private let tokens: TokenVerifier
    private let passwords: PasswordVerifier?
    /// What is asked of a caller who has shown nothing.
    private let challenges: [String]

    /// - Throws: an error that describes which file or URL cannot be used, and why.
    public convenience init(configuration: UserAuthenticationConfiguration, logger: Logger) throws {
        try self.init(
            configuration: configuration, logger: logger, now: { .now }, instant: { ContinuousClock.now })
    }

    init(
        configuration: UserAuthenticationConfiguration, logger: Logger, now: @escaping @Sendable () -> Timestamp,
        instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws {
        let remote = try configuration.jwksURL.map { text in
            let url = try KeySetURL(text)
            return RemoteKeySet(logger: logger, now: instant) { try await url.fetch() }
        }
        tokens = TokenVerifier(
            sources: try configuration.keyFiles(logger: logger, now: instant), remote: remote,
            issuer: configuration.issuer,
            audience: configuration.audience, now: now)
        passwords = try configuration.usersFile.map { try PasswordVerifier(path: $0, logger: logger, now: instant) }
        challenges = passwords == nil ? [Challenge.bearer] : [Challenge.bearer, Challenge.basic]
    }

    /// The user whose credentials these are.
    ///
    /// - Parameter authorization: the value of the `Authorization` header.
    public func authenticate(authorization: String?) async throws(AuthenticationError) -> UserName {
        guard let authorization, let header = AuthorizationHeader(authorization) else { throw missing }
        switch header.scheme {
        case .bearer: return try await authenticate(token: header, authorization)
        case .basic: return try await authenticate(password: header)
        case .other: throw missing
        }
    }

    /// The same by a password only: for what a token must not be able to do, such as obtaining the next one.
    public func authenticateByPassword(authorization: String?) async throws(AuthenticationError) -> UserName {
        guard let authorization, let header = AuthorizationHeader(authorization), header.scheme == .basic else {
            throw missing
        }
        return try await authenticate(password: header)
    }

    private func authenticate(
        token header: AuthorizationHeader, _ authorization: String
    ) async throws(AuthenticationError) -> UserName {
        let key = CacheKey(token: authorization)
        if let user = tokens.remembered(key) { return user }
        return try await tokens.verify(header.credentials, key)
    }

    private func authenticate(password header: AuthorizationHeader) async throws(AuthenticationError) -> UserName {
        guard let passwords else { throw missing }
        do {
            return try await passwords.verify(header)
        } catch {
            if error.code == .unavailable { throw error }
            throw AuthenticationError(error.code, error.message, challenges: challenges)
        }
    }

    private var missing: AuthenticationError {
        AuthenticationError(.missing, "Credentials are needed.", challenges: challenges)
    }
}

extension UserAuthenticationConfiguration {
    /// The keys that come from files: the signing key's own, and the key set.
    fileprivate func keyFiles(
        logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws -> [VerificationKeySource] {
        var sources: [VerificationKeySource] = []
        if let signingKeyFile {
            let file = try ReloadingFile(path: signingKeyFile, logger: logger, now: now) {
                try TokenSigningKey(pem: $0)
            }
            sources.append(
                VerificationKeySource(current: { file.current.keySet }, refreshed: { file.refreshed().keySet }))
        }
        if let jwksFile {
            let file = try ReloadingFile(path: jwksFile, logger: logger, now: now) { text in
                try VerificationKeySet(jwks: Array(text.utf8), logger: logger)
            }
            sources.append(VerificationKeySource(current: { file.current }, refreshed: { file.refreshed() }))
        }
        return sources
    }
}
