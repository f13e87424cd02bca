import Foundations
package import OutgoingHTTP
package import ServiceConfiguration

/// How users are authenticated: the `AUTH_…` settings. Every part may be absent. Without any of them no user has
/// access.
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
    /// The claim that names the user in the tokens of the key set.
    package var usernameClaim = TokenClaims.ownUserClaim
    /// The file of ``UsersFile``, for Basic credentials; read again when it changes.
    package var usersFile: String?
    /// The file of the key for issuing tokens (P-256 in PEM). These tokens are accepted too.
    package var signingKeyFile: String?
    /// How long tokens issued here are valid, in whole seconds.
    package var tokenTTL: Duration
    /// How long a refresh token is valid; `nil` if none are issued.
    package var refreshTTL: Duration?

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
}

extension UserAuthenticationConfiguration {
    /// Reads the `AUTH_…` settings.
    ///
    /// - Parameter issuesTokens: whether users get tokens from this service. Then there must be a way to authenticate
    ///   them, and the settings of tokens are read. Other services may have these in a shared environment.
    /// - Returns: `nil` if one of them is not valid; the reader has the issue.
    package static func read(
        _ reader: inout ConfigurationReader, issuesTokens: Bool
    ) -> UserAuthenticationConfiguration? {
        let before = reader.issues.count
        var configuration = UserAuthenticationConfiguration()
        configuration.jwksFile = reader[\.authJWKSFile]
        configuration.jwksURL = reader[\.authJWKSURL]
        configuration.isInsecureJWKSAllowed = reader.allows(.jwks)
        configuration.outgoing = OutgoingConfiguration.read(&reader)
        configuration.issuer = reader[\.authIssuer]
        configuration.audience = reader[\.authAudience]
        configuration.usernameClaim = reader[\.authUsernameClaim]
        configuration.usersFile = reader[\.authUsersFile]
        configuration.signingKeyFile = reader[\.authTokenSigningKeyFile]
        if configuration.jwksFile != nil, configuration.jwksURL != nil {
            reader.note(\.authJWKSURL, "is set, and AUTH_JWKS_FILE too: leave one of them empty")
        }
        if issuesTokens {
            configuration.tokenTTL = reader[\.authTokenTTL]
            configuration.refreshTTL = reader[\.authRefreshTTL]
            if reader.issues.count == before { configuration.checkIssuing(&reader) }
        }
        return reader.issues.count == before ? configuration : nil
    }

    private func checkIssuing(_ reader: inout ConfigurationReader) {
        if !isUsable {
            reader.note(
                \.authJWKSFile, "is not set, and neither is another AUTH_ key: no user could be authenticated")
        }
        if refreshTTL != nil, signingKeyFile == nil || usersFile == nil {
            reader.note(
                \.authRefreshTTL,
                "is set, but AUTH_TOKEN_SIGNING_KEY_FILE or AUTH_USERS_FILE is not: refresh tokens need both")
        }
    }
}

extension UserAuthenticationConfiguration {
    /// The setting of the file or URL that an error of ``UserAuthenticator`` or ``TokenIssuer`` is about.
    private func key(for error: any Error) -> ConfigurationKey<String?> {
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
