internal import Crypto
package import Domain
package import Foundations
internal import JWTKit
package import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Issues tokens to users, signed with the key of `AUTH_TOKEN_SIGNING_KEY_FILE`. Reads the file again when it changes.
package struct TokenIssuer: Sendable {
    private let file: ReloadingFile<TokenSigningKey>
    private let users: ReloadingFile<UserPasswords>?
    private let issuer: String?
    private let audience: String?
    private let ttl: Duration

    /// Reads the files of the configuration.
    ///
    /// - Returns: `nil` if no signing key is configured.
    /// - Throws: an error that describes why a file cannot be used.
    package init?(
        configuration: UserAuthenticationConfiguration, logger: Logger = Logger(label: "securepush.authentication")
    ) throws {
        guard let path = configuration.signingKeyFile else { return nil }
        file = try ReloadingFile(credentials: path, logger: logger) { try TokenSigningKey(pem: $0) }
        users = try configuration.usersFile.map { try UserPasswords.file($0, logger: logger) }
        issuer = configuration.issuer
        audience = configuration.audience
        ttl = configuration.tokenTTL
    }

    /// Has the files looked at in the background from now on.
    package func watchFiles() {
        file.watch()
        users?.watch()
    }

    /// Looks at the users' file: a user may have been added, or may have another password, since a moment ago.
    package func checkUsers() async { await users?.check() }

    /// A token with `sub`, `iat`, `exp`, `jti`, and with `iss` and `aud` if they are configured. With a users' file it
    /// is bound to the user's entry there; see ``TokenClaims/userEntry``.
    ///
    /// - Parameters:
    ///   - entry: the fingerprint of the entry that the user has logged in with. The file may have another one by now,
    ///     which must not give a token to somebody who knows only the old password.
    ///   - now: when it is issued.
    ///   - expiresAt: when it ends, instead of `AUTH_TOKEN_TTL` after `now`. May be in the past.
    /// - Throws: ``AuthenticationError``: `invalid` if the user is not in the users' file or has another entry there,
    ///   `unavailable` if that file or the file of the key cannot be used.
    package func issue(
        to user: UserName, entry: String? = nil, now: Timestamp = .now, expiresAt: Timestamp? = nil
    ) throws -> IssuedToken {
        let seconds = max(1, ttl.components.seconds)
        let issuedAt = Timestamp(milliseconds: now.seconds * 1000)
        let end = expiresAt ?? issuedAt + .seconds(seconds)
        var claims = TokenClaims(
            subject: user, expiresAt: end, issuedAt: min(issuedAt, end), issuer: issuer,
            audiences: audience.map { [$0] } ?? [],
            tokenID: Base64.encode(SystemRandomNumberGenerator.bytes(16), .url))
        if users != nil || entry != nil {
            let current = try userEntry(of: user)
            guard entry == nil || entry == current else { throw Self.changedPassword }
            claims.userEntry = current
        }
        guard let key = file.usable else { throw AuthenticationError.credentialsUnusable }
        return IssuedToken(token: try key.sign(claims), expiresIn: Int(max(0, (end - issuedAt).components.seconds)))
    }

    /// The fingerprint of a user's entry in the users' file, which differs after a change of the password.
    ///
    /// - Throws: ``AuthenticationError``: `invalid` if the user is not in the file, `unavailable` if there is no file
    ///   or it cannot be used.
    func userEntry(of user: UserName) throws(AuthenticationError) -> String {
        guard let passwords = users?.refreshedUsable() else { throw .credentialsUnusable }
        guard let entry = passwords.fingerprint(of: user) else { throw Self.unknownUser }
        return entry
    }

    /// The secret of the refresh token that replaces this one: the same for as long as the signing key is the same.
    ///
    /// - Throws: ``AuthenticationError`` `unavailable` if the file of the key cannot be used.
    func successor(of refreshToken: [UInt8]) throws(AuthenticationError) -> [UInt8] {
        guard let key = file.usable else { throw .credentialsUnusable }
        return key.successor(of: refreshToken)
    }

    private static let unknownUser = AuthenticationError(
        .invalid, "There is no such user.", challenges: [Challenge.basic])
    private static let changedPassword = AuthenticationError(
        .invalid, "The user has another password now.", challenges: [Challenge.basic])

    /// The JSON Web Key Set of the key, for other services that verify the tokens.
    package var publicJWKS: String { file.current.publicJWKS }
}

/// A token that was just issued.
package struct IssuedToken: Sendable, Equatable {
    /// The token in compact form.
    package let token: String
    /// How long it is accepted, in seconds.
    package let expiresIn: Int
}

/// The key that signs the tokens of this system: ECDSA on P-256, `ES256` (`AUTH_TOKEN_SIGNING_KEY_FILE`).
///
/// swift-crypto signs and not jwt-kit, because jwt-kit signs only within an actor, and its JSON encoder decides about
/// the order of the claims.
package struct TokenSigningKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// For refresh tokens. It is derived from the key, so that all processes with the key have the same one.
    private let successorKey: SymmetricKey
    /// The public key, for verifying the tokens.
    let keySet: VerificationKeySet
    /// The `kid` of its tokens: the thumbprint of the public key (RFC 7638).
    package let keyID: String

    /// Reads a key.
    ///
    /// - Parameter pem: PKCS#8 (`BEGIN PRIVATE KEY`) or SEC1 (`BEGIN EC PRIVATE KEY`).
    /// - Throws: ``SetupError`` `malformed`.
    package init(pem: String) throws {
        guard let der = try PEMBlock.privateKey(in: pem)?.bytes,
            let key = try? P256.Signing.PrivateKey(derRepresentation: der)
        else { throw SetupError(.malformed, "not a P-256 private key in PEM (PKCS#8 or SEC1)") }
        try self.init(key)
    }

    /// Reads a key from a file.
    ///
    /// - Throws: ``SetupError``: `unreadable`, `malformed`.
    package init(path: String) throws { try self.init(pem: try PrivateFile.existingText(path)) }

    /// Makes a new key.
    package init() throws { try self.init(P256.Signing.PrivateKey()) }

    private init(_ key: P256.Signing.PrivateKey) throws {
        self.key = key
        successorKey = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Array("securepush-refresh-v1".utf8),
            outputByteCount: 32)
        keyID = Base64.encode(SHA256.hash(data: Array(Self.requiredMembers(key).utf8)), .url)
        let verification = VerificationKey(
            keyID: keyID, material: .p256(try ES256PublicKey(backing: key.publicKey)), algorithms: [.es256])
        keySet = VerificationKeySet(keys: [verification])
    }

    /// Makes a new key in a new file with the mode 0600.
    ///
    /// - Throws: ``SetupError``: `alreadyExists` (a key is never overwritten), `unwritable`.
    @discardableResult
    package static func make(at path: String) throws -> TokenSigningKey {
        let key = try TokenSigningKey()
        try PrivateFile.edit(path) { text in
            guard text == nil else {
                throw SetupError(.alreadyExists, "the file \(path) exists already")
            }
            return (key.pem + "\n", ())
        }
        return key
    }

    /// The key in PKCS#8 PEM, without a line end.
    package var pem: String { key.pemRepresentation }

    /// The JSON Web Key Set (RFC 7517) of the public key, for other services that verify the tokens.
    package var publicJWKS: String {
        var json = JSONWriter()
        let (x, y) = Self.coordinates(key)
        json.open("{")
        for (name, value) in [("kty", "EC"), ("crv", "P-256"), ("x", x), ("y", y), ("kid", keyID), ("use", "sig")] {
            json.member(name, value)
        }
        json.member("alg", SignatureAlgorithm.es256.rawValue)
        json.close("}")
        return #"{"keys":[\#(json.text)]}"#
    }

    /// A signed token in compact form (RFC 7515, section 7.1) with exactly these claims.
    package func sign(_ claims: TokenClaims) throws -> String {
        var header = JSONWriter()
        header.open("{")
        header.member("alg", SignatureAlgorithm.es256.rawValue)
        header.member("typ", "JWT")
        header.member("kid", keyID)
        header.close("}")
        let signed = Base64.encode(header.text.utf8, .url) + "." + Base64.encode(claims.json.utf8, .url)
        let signature = try key.signature(for: SHA256.hash(data: Array(signed.utf8)))
        return signed + "." + Base64.encode(signature.rawRepresentation, .url)
    }

    /// 32 bytes that only the holder of the key can compute from a refresh token.
    func successor(of refreshToken: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: refreshToken, using: successorKey))
    }

    /// The members of the thumbprint, in the order of their names and without blanks.
    private static func requiredMembers(_ key: P256.Signing.PrivateKey) -> String {
        let (x, y) = coordinates(key)
        return #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    }

    private static func coordinates(_ key: P256.Signing.PrivateKey) -> (x: String, y: String) {
        let point = key.publicKey.rawRepresentation
        return (Base64.encode(point.prefix(32), .url), Base64.encode(point.suffix(32), .url))
    }
}
