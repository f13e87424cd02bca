import SecurePushCore
public import ServiceConfiguration

extension UserAuthenticationConfiguration {
    /// The keys by which credentials are checked.
    public static var verifyingKeys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.authJWKSFile, ConfigurationKeys.authJWKSURL, ConfigurationKeys.authIssuer,
            ConfigurationKeys.authAudience, ConfigurationKeys.authUsersFile,
            ConfigurationKeys.authTokenSigningKeyFile, ConfigurationKeys.allowInsecure,
        ]
    }

    /// The keys that ``read(_:)`` uses, for the list of a service that issues tokens too.
    public static var keys: [any ConfigurationKeyDescription] { verifyingKeys + [ConfigurationKeys.authTokenTTL] }

    /// Reads the `AUTH_…` keys.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader) -> UserAuthenticationConfiguration? {
        let before = reader.issues.count
        var configuration = UserAuthenticationConfiguration()
        configuration.jwksFile = reader.read(ConfigurationKeys.authJWKSFile)
        configuration.jwksURL = reader.read(ConfigurationKeys.authJWKSURL)
        configuration.isInsecureJWKSAllowed = reader.allows(.jwks)
        configuration.issuer = reader.read(ConfigurationKeys.authIssuer)
        configuration.audience = reader.read(ConfigurationKeys.authAudience)
        configuration.usersFile = reader.read(ConfigurationKeys.authUsersFile)
        configuration.signingKeyFile = reader.read(ConfigurationKeys.authTokenSigningKeyFile)
        if let ttl = reader.read(ConfigurationKeys.authTokenTTL) { configuration.tokenTTL = ttl }
        if configuration.jwksFile != nil, configuration.jwksURL != nil {
            reader.note(ConfigurationKeys.authJWKSURL.name, "is set, and AUTH_JWKS_FILE too: set one of them")
        }
        return reader.issues.count == before ? configuration : nil
    }
}

extension UserAuthenticationConfiguration {
    /// The key whose file or URL an error is about that ``UserAuthenticator`` or ``TokenIssuer`` threw when made.
    private func key(for error: any Error) -> ConfigurationKey<String> {
        switch (error as? FileError)?.path {
        case nil: ConfigurationKeys.authJWKSURL
        case usersFile: ConfigurationKeys.authUsersFile
        case signingKeyFile: ConfigurationKeys.authTokenSigningKeyFile
        default: ConfigurationKeys.authJWKSFile
        }
    }

    /// Makes what checks or issues tokens by these settings.
    ///
    /// - Throws: ``ConfigurationError`` that names the key that cannot be used.
    public func making<Made>(_ make: (Self) throws -> Made) throws(ConfigurationError) -> Made {
        do {
            return try make(self)
        } catch {
            return try key(for: error).making { throw error }
        }
    }
}
