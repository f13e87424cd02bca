package import Domain
package import Foundations
package import Logging

/// Authenticates users by a token (`Bearer`, RFC 6750 and 7519) or by a password (`Basic`, RFC 7617).
///
/// The files are read again when they change. While one cannot be used, callers are refused with `unavailable`: at once
/// if it was deleted, otherwise after one minute. The URL of the key set is fetched when the first token needs it.
/// While it cannot be reached, its keys stay in use for one day at most.
package final class UserAuthenticator: Sendable {
    private let tokens: TokenVerifier
    private let passwords: PasswordVerifier?
    /// The files and the URL, for `/readyz`, metrics and SIGHUP.
    package let sources: [ReloadableSource]
    /// The challenges for a caller without credentials.
    private let challenges: [String]

    /// Reads the files.
    ///
    /// - Throws: an error that describes which file or URL cannot be used, and why.
    package convenience init(configuration: UserAuthenticationConfiguration, logger: Logger) throws {
        try self.init(
            configuration: configuration, logger: logger, now: { .now }, instant: { ContinuousClock.now })
    }

    init(
        configuration: UserAuthenticationConfiguration, logger: Logger, now: @escaping @Sendable () -> Timestamp,
        instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws {
        let remote = try configuration.jwksURL.map { text in
            let url = try KeySetURL(
                text, isInsecureAllowed: configuration.isInsecureJWKSAllowed, outgoing: configuration.outgoing)
            return RemoteKeySet(logger: logger, now: instant) { try await url.fetch() }
        }
        let users = try configuration.usersFile.map {
            try UserPasswords.file($0, logger: logger, now: instant)
        }
        let keys = try configuration.keyFiles(logger: logger, now: instant)
        tokens = TokenVerifier(
            sources: keys.map(\.keys), remote: remote, usernameClaim: configuration.usernameClaim, users: users,
            issuer: configuration.issuer, audience: configuration.audience,
            refusals: TokenRefusalLog(logger: logger, now: instant), now: now)
        passwords = users.map {
            PasswordVerifier(file: $0, log: PasswordLog(logger: logger), now: instant)
        }
        challenges = passwords == nil ? [Challenge.bearer] : [Challenge.bearer, Challenge.basic]
        sources =
            keys.map(\.source) + [users?.source("AUTH_USERS_FILE"), remote?.source("AUTH_JWKS_URL")].compactMap { $0 }
        configuration.warnOfAnyToken(logger)
    }

    /// The user whose credentials these are.
    ///
    /// - Parameters:
    ///   - authorization: the value of the `Authorization` header.
    ///   - client: the address of the client, for the limits on wrong passwords.
    /// - Throws: ``AuthenticationError``, whose answer it describes.
    package func authenticate(
        authorization: String?, from client: ClientAddress? = nil
    ) async throws(AuthenticationError) -> UserName {
        guard let authorization, let header = AuthorizationHeader(authorization) else { throw missing }
        switch header.scheme {
        case .bearer: return try await authenticate(token: header, authorization)
        case .basic: return try await authenticate(password: header, from: client).user
        case .other: throw missing
        }
    }

    /// The user of a token that was verified before and is still valid, without waiting.
    ///
    /// - Returns: `nil` for everything that ``authenticate(authorization:from:)`` has to decide.
    package func remembered(authorization: String?) -> UserName? {
        guard let authorization, let header = AuthorizationHeader(authorization), header.scheme == .bearer else {
            return nil
        }
        return tokens.remembered(CacheKey(token: authorization))
    }

    /// Accepts a password only: for actions that a token must not allow, such as getting the next token.
    package func authenticateByPassword(
        authorization: String?, from client: ClientAddress? = nil
    ) async throws(AuthenticationError) -> PasswordLogin {
        guard let authorization, let header = AuthorizationHeader(authorization), header.scheme == .basic else {
            throw missing
        }
        return try await authenticate(password: header, from: client)
    }

    private func authenticate(
        token header: AuthorizationHeader, _ authorization: String
    ) async throws(AuthenticationError) -> UserName {
        let key = CacheKey(token: authorization)
        if let user = tokens.remembered(key) { return user }
        return try await tokens.verify(header.credentials, key)
    }

    private func authenticate(
        password header: AuthorizationHeader, from client: ClientAddress?
    ) async throws(AuthenticationError) -> PasswordLogin {
        guard let passwords else { throw missing }
        do {
            return try await passwords.verify(header, from: client)
        } catch {
            if error.code == .unavailable || error.code == .throttled { throw error }
            throw error.with(challenges: challenges)
        }
    }

    private var missing: AuthenticationError {
        AuthenticationError(.missing, "Credentials are required.", challenges: challenges)
    }
}

/// A user whose password was right.
package struct PasswordLogin: Sendable {
    package let user: UserName
    /// The fingerprint of the user's entry in `AUTH_USERS_FILE` that the password fits; see ``TokenClaims/userEntry``.
    package let entry: String
}

extension UserAuthenticationConfiguration {
    /// The keys from files: our own signing key, and the key set.
    fileprivate func keyFiles(
        logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws -> [(keys: VerificationKeySource, source: ReloadableSource)] {
        var files: [(keys: VerificationKeySource, source: ReloadableSource)] = []
        if let signingKeyFile {
            let file = try ReloadingFile(credentials: signingKeyFile, logger: logger, now: now) {
                try TokenSigningKey(pem: $0)
            }
            let keys = VerificationKeySource(
                current: { file.usable?.keySet },
                refreshed: {
                    await file.check()
                    return file.usable?.keySet
                },
                isUsable: { file.usable != nil })
            files.append((keys, file.source("AUTH_TOKEN_SIGNING_KEY_FILE")))
        }
        if let jwksFile {
            let file = try ReloadingFile(credentials: jwksFile, logger: logger, now: now) { text in
                try VerificationKeySet(jwks: Array(text.utf8), logger: logger)
            }
            let keys = VerificationKeySource(
                current: { file.usable },
                refreshed: {
                    await file.check()
                    return file.usable
                }, isUsable: { file.usable != nil }, userClaim: usernameClaim)
            files.append((keys, file.source("AUTH_JWKS_FILE")))
        }
        return files
    }

    /// A key set without a required issuer and audience accepts every token that its provider has signed, for any
    /// application (RFC 8725, sections 3.8 and 3.9).
    fileprivate func warnOfAnyToken(_ logger: Logger) {
        guard jwksFile != nil || jwksURL != nil else { return }
        let unset = [("AUTH_ISSUER", issuer), ("AUTH_AUDIENCE", audience)].filter { $0.1 == nil }.map(\.0)
        guard !unset.isEmpty else { return }
        logger.warning(
            "Tokens of any issuer or audience are accepted; set both unless the key set is used only for this system",
            metadata: ["not_set": "\(unset.joined(separator: ", "))"])
    }
}
