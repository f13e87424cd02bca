import Authentication

/// The token signing key and the JWKS document of its public key.
enum SigningKeyFiles {
    /// Makes what is missing of both; an existing key is kept, and its document made from it.
    static func make(signingKey: String, jwks: String) throws {
        if !SecretFile.exists(signingKey) { try TokenSigningKey.make(at: signingKey) }
        if !SecretFile.exists(jwks) { try SecretFile.create(jwks, try TokenSigningKey(path: signingKey).publicJWKS) }
    }
}
