public import SecurePushCore

/// The claims of a token (RFC 7519, section 4.1).
public struct TokenClaims: Sendable, Equatable {
    /// `sub`: whose token it is.
    public var subject: UserName
    /// `exp`: when it ceases to be accepted.
    public var expiresAt: Timestamp
    /// `iat`
    public var issuedAt: Timestamp?
    /// `nbf`: when it begins to be accepted.
    public var notBefore: Timestamp?
    /// `iss`
    public var issuer: String?
    /// `aud`; empty when absent.
    public var audiences: [String]
    /// `jti`
    public var tokenID: String?
    /// `securepush_entry`: the fingerprint of the user's entry in `AUTH_USERS_FILE` whose password the token was issued
    /// for. The token ends when the entry changes.
    public var userEntry: String?

    public init(
        subject: UserName, expiresAt: Timestamp, issuedAt: Timestamp? = nil, notBefore: Timestamp? = nil,
        issuer: String? = nil, audiences: [String] = [], tokenID: String? = nil,
        userEntry: String? = nil
    ) {
        self.subject = subject
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
        self.notBefore = notBefore
        self.issuer = issuer
        self.audiences = audiences
        self.tokenID = tokenID
        self.userEntry = userEntry
    }
}
