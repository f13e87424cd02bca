import SecurePushCore
package import ServiceConfiguration

/// How users are authenticated: the `AUTH_…` settings. Every part may be absent. Without any of them nobody has access.
package struct UserAuthenticationConfiguration: Sendable {
    /// The file of a JSON Web Key Set (RFC 7517) for verifying tokens; read again when it changes.
    package var jwksFile: String?
    /// The URL of a key set: https, or http on loopback.
    package var jwksURL: String?
    /// Whether the URL may be http to another machine.
    package var isInsecureJWKSAllowed = false
    /// The trusted authorities and the proxy for the URL.
    package var outgoing = OutgoingConfiguration()
    /// The `iss` that tokens must have, if any.
    package var issuer: String?
    /// The `aud` that tokens must have or contain, if any.
    package var audience: String?
    /// The file of ``UsersFile``, for Basic credentials; read again when it changes.
    package var usersFile: String?
    /// The file of the key for issuing tokens (PKCS#8 PEM, P-256). These tokens are accepted too.
    package var signingKeyFile: String?
    /// How long tokens issued here are valid, in whole seconds.
    package var tokenTTL: Duration
    /// How long a refresh token is valid; `nil` if none are issued.
    package var refreshTTL: Duration?

    /// Makes a configuration.
    package init(
        jwksFile: String? = nil, jwksURL: String? = nil, issuer: String? = nil, audience: String? = nil,
        usersFile: String? = nil, signingKeyFile: String? = nil, tokenTTL: Duration = .seconds(3600),
        refreshTTL: Duration? = nil
    ) {
        self.jwksFile = jwksFile
        self.jwksURL = jwksURL
        self.issuer = issuer
        self.audience = audience
        self.usersFile = usersFile
        self.signingKeyFile = signingKeyFile
        self.tokenTTL = tokenTTL
        self.refreshTTL = refreshTTL
    }

    /// Whether any way of authenticating users is configured.
    package var isUsable: Bool { jwksFile != nil || jwksURL != nil || usersFile != nil || signingKeyFile != nil }

    /// Whether refresh tokens are wanted without the files that they need.
    package var cannotRefresh: Bool { refreshTTL != nil && (signingKeyFile == nil || usersFile == nil) }
}

extension UserAuthenticationConfiguration {
    /// The settings for checking credentials.
    package static var verifyingKeys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.authJWKSFile, ConfigurationKeys.authJWKSURL, ConfigurationKeys.authIssuer,
            ConfigurationKeys.authAudience, ConfigurationKeys.authUsersFile,
            ConfigurationKeys.authTokenSigningKeyFile, ConfigurationKeys.allowInsecure,
        ] + OutgoingConfiguration.keys
    }

    /// All settings that ``read(_:)`` uses, for a service that issues tokens too.
    package static var keys: [any ConfigurationKeyDescription] {
        verifyingKeys + [ConfigurationKeys.authTokenTTL, ConfigurationKeys.authRefreshTTL]
    }

    /// Reads the `AUTH_…` settings.
    ///
    /// - Returns: `nil` if one of them is not valid; the reader has the issue.
    package static func read(_ reader: inout ConfigurationReader) -> UserAuthenticationConfiguration? {
        let before = reader.issues.count
        var configuration = UserAuthenticationConfiguration()
        configuration.jwksFile = reader.read(ConfigurationKeys.authJWKSFile)
        configuration.jwksURL = reader.read(ConfigurationKeys.authJWKSURL)
        configuration.isInsecureJWKSAllowed = reader.allows(.jwks)
        configuration.outgoing = OutgoingConfiguration.read(&reader)
        configuration.issuer = reader.read(ConfigurationKeys.authIssuer)
        configuration.audience = reader.read(ConfigurationKeys.authAudience)
        configuration.usersFile = reader.read(ConfigurationKeys.authUsersFile)
        configuration.signingKeyFile = reader.read(ConfigurationKeys.authTokenSigningKeyFile)
        if let ttl = reader.read(ConfigurationKeys.authTokenTTL) { configuration.tokenTTL = ttl }
        configuration.refreshTTL = reader.read(ConfigurationKeys.authRefreshTTL)
        if configuration.jwksFile != nil, configuration.jwksURL != nil {
            reader.note(ConfigurationKeys.authJWKSURL.name, "is set, and AUTH_JWKS_FILE too: set one of them")
        }
        return reader.issues.count == before ? configuration : nil
    }
}

extension UserAuthenticationConfiguration {
    /// Notes that refresh tokens are wanted without the files that they need. Only retrieval issues tokens; the other
    /// services may have `AUTH_REFRESH_TTL` in a shared environment.
    package func checkRefreshing(_ reader: inout ConfigurationReader) {
        guard cannotRefresh else { return }
        reader.note(
            ConfigurationKeys.authRefreshTTL.name,
            "is set, but AUTH_TOKEN_SIGNING_KEY_FILE or AUTH_USERS_FILE is not: refresh tokens need both")
    }
}

extension UserAuthenticationConfiguration {
    /// The setting of the file or URL that an error of ``UserAuthenticator`` or ``TokenIssuer`` is about.
    private func key(for error: any Error) -> ConfigurationKey<String> {
        switch (error as? FileError)?.path {
        case nil: ConfigurationKeys.authJWKSURL
        case usersFile: ConfigurationKeys.authUsersFile
        case signingKeyFile: ConfigurationKeys.authTokenSigningKeyFile
        default: ConfigurationKeys.authJWKSFile
        }
    }

    /// Makes an object of these settings that verifies or issues tokens.
    ///
    /// - Throws: ``ConfigurationError`` with the setting that cannot be used.
    package func making<Made>(_ make: (Self) throws -> Made) throws(ConfigurationError) -> Made {
        do {
            return try make(self)
        } catch {
            return try key(for: error).making { throw error }
        }
    }
}
