public import Logging
public import SecurePushCore

/// Issues tokens to users, signed by the key of `AUTH_TOKEN_SIGNING_KEY_FILE`; reads the file again when it changes.
public struct TokenIssuer: Sendable {
    private let file: ReloadingFile<TokenSigningKey>
    private let issuer: String?
    private let audience: String?
    private let ttl: Duration

    /// - Returns: `nil` when no signing key is configured.
    /// - Throws: an error that describes why the key's file cannot be read or used.
    public init?(
        configuration: UserAuthenticationConfiguration, logger: Logger = Logger(label: "securepush.authentication")
    ) throws {
        guard let path = configuration.signingKeyFile else { return nil }
        file = try ReloadingFile(path: path, logger: logger) { try TokenSigningKey(pem: $0) }
        issuer = configuration.issuer
        audience = configuration.audience
        ttl = configuration.tokenTTL
    }

    /// A token with `sub`, `iat`, `exp`, `jti`, and `iss` and `aud` when they are configured.
    public func issue(to user: UserName, now: Timestamp = .now) throws -> IssuedToken {
        let seconds = max(1, ttl.components.seconds)
        let issuedAt = Timestamp(milliseconds: now.seconds * 1000)
        let claims = TokenClaims(
            subject: user, expiresAt: issuedAt + .seconds(seconds), issuedAt: issuedAt, issuer: issuer,
            audiences: audience.map { [$0] } ?? [],
            tokenID: Base64.encode(SystemRandomNumberGenerator.bytes(16), .url))
        return IssuedToken(token: try file.current.sign(claims), expiresIn: Int(seconds))
    }

    /// The JSON Web Key Set of the key, for others who check the tokens.
    public var publicJWKS: String { file.current.publicJWKS }
}
