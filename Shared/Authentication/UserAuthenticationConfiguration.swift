/// How users are known: the keys of `AUTH_…`. Every part may be absent; with none of them nobody is let in.
public struct UserAuthenticationConfiguration: Sendable {
    /// A JSON Web Key Set (RFC 7517) that tokens are checked with; read again when it changes.
    public var jwksFile: String?
    /// The same from a URL: https, or http on loopback.
    public var jwksURL: String?
    /// Whether the URL may be http to another machine.
    public var isInsecureJWKSAllowed = false
    /// The `iss` that tokens must have.
    public var issuer: String?
    /// The `aud` that tokens must have, or hold.
    public var audience: String?
    /// The file of ``UsersFile``, for Basic credentials; read again when it changes.
    public var usersFile: String?
    /// The key of tokens issued here, PKCS#8 PEM, P-256; such tokens are accepted too.
    public var signingKeyFile: String?
    /// How long tokens issued here are accepted; whole seconds.
    public var tokenTTL: Duration

    public init(
        jwksFile: String? = nil, jwksURL: String? = nil, issuer: String? = nil, audience: String? = nil,
        usersFile: String? = nil, signingKeyFile: String? = nil, tokenTTL: Duration = .seconds(3600)
    ) {
        self.jwksFile = jwksFile
        self.jwksURL = jwksURL
        self.issuer = issuer
        self.audience = audience
        self.usersFile = usersFile
        self.signingKeyFile = signingKeyFile
        self.tokenTTL = tokenTTL
    }

    /// Whether anything is configured by which a user could be known.
    public var isUsable: Bool { jwksFile != nil || jwksURL != nil || usersFile != nil || signingKeyFile != nil }
}
