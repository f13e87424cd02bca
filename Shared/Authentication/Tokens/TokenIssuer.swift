public import Logging
public import SecurePushCore

/// Issues tokens to users, signed by the key of `AUTH_TOKEN_SIGNING_KEY_FILE`; reads the file again when it changes.
public struct TokenIssuer: Sendable {
    private let file: ReloadingFile<TokenSigningKey>
    private let users: ReloadingFile<UserPasswords>?
    private let issuer: String?
    private let audience: String?
    private let ttl: Duration

    /// - Returns: `nil` when no signing key is configured.
    /// - Throws: an error that describes why the key's file cannot be read or used.
    public init?(
        configuration: UserAuthenticationConfiguration, logger: Logger = Logger(label: "securepush.authentication")
    ) throws {
        guard let path = configuration.signingKeyFile else { return nil }
        file = try ReloadingFile(credentials: path, logger: logger) { try TokenSigningKey(pem: $0) }
        users = try configuration.usersFile.map { try UserPasswords.file($0, logger: logger) }
        issuer = configuration.issuer
        audience = configuration.audience
        ttl = configuration.tokenTTL
    }

    /// A token with `sub`, `iat`, `exp`, `jti`, and `iss` and `aud` when they are configured. With a users' file it is
    /// bound to the user's entry there, see ``TokenClaims/userEntry``.
    ///
    /// - Parameters:
    ///   - now: when it is issued.
    ///   - expiresAt: when it ends, instead of `AUTH_TOKEN_TTL` after `now`; may be past.
    /// - Throws: ``AuthenticationError``: `invalid` when the user is not in the users' file, `unavailable` when that
    /// file
    ///   or the key's cannot be used.
    public func issue(
        to user: UserName, now: Timestamp = .now, expiresAt: Timestamp? = nil
    ) throws -> IssuedToken {
        let seconds = max(1, ttl.components.seconds)
        let issuedAt = Timestamp(milliseconds: now.seconds * 1000)
        let end = expiresAt ?? issuedAt + .seconds(seconds)
        var claims = TokenClaims(
            subject: user, expiresAt: end, issuedAt: min(issuedAt, end), issuer: issuer,
            audiences: audience.map { [$0] } ?? [],
            tokenID: Base64.encode(SystemRandomNumberGenerator.bytes(16), .url))
        if let users {
            guard let passwords = users.refreshedUsable() else { throw AuthenticationError.credentialsUnusable }
            guard let entry = passwords.fingerprint(of: user) else {
                throw AuthenticationError(.invalid, "There is no such user.", challenges: [Challenge.basic])
            }
            claims.userEntry = entry
        }
        guard let key = file.usable else { throw AuthenticationError.credentialsUnusable }
        return IssuedToken(token: try key.sign(claims), expiresIn: Int(max(0, (end - issuedAt).components.seconds)))
    }

    /// The JSON Web Key Set of the key, for others who check the tokens.
    public var publicJWKS: String { file.current.publicJWKS }
}
