package import Domain
package import Foundations

/// A signed token in compact form (RFC 7515, 7519). It is read strictly; the signature is not verified yet.
struct JSONWebToken {
    /// The members of the header that matter here.
    struct Header {
        let algorithm: SignatureAlgorithm
        let keyID: String?
    }

    /// Why a text is not a token that could be accepted, for the caller.
    struct Malformed: Error {
        let message: String
        /// `malformed` for a text that is no token at all.
        let code: AuthenticationError.Code
        init(_ message: String = "The token is malformed", _ code: AuthenticationError.Code = .malformed) {
            self.message = message
            self.code = code
        }

        static let noUser = Malformed("The token does not name a user", .invalid)
    }

    /// The maximum length in bytes: enough for some hundred groups of a user.
    static let maxLength = 16_384
    /// The maximum members of an object: more than fit, because groups can be members too.
    static let maxMembers = 4096

    let header: Header
    /// Its subject is one of ``users``.
    let claims: TokenClaims
    /// The user whom each of the claims names that can name one.
    let users: [String: UserName]
    let signature: [UInt8]
    /// The header and the claims as they were signed.
    let signedBytes: [UInt8]

    /// - Parameters:
    ///   - userClaims: the claims that may name the user.
    ///   - keyID: gets the `kid`, also if the rest cannot be used.
    init(_ text: Substring, userClaims: Set<String>, noting keyID: inout String?) throws(Malformed) {
        guard text.utf8.count <= Self.maxLength else {
            throw Malformed("The token is longer than 16 KiB", .tooLong)
        }
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(parts[0], .url),
            let claims = Base64.decode(parts[1], .url), let signature = Base64.decode(parts[2], .url)
        else { throw Malformed() }
        self.header = try Self.header(header, noting: &keyID)
        guard !signature.isEmpty else { throw Malformed("The token has no signature") }
        let object = try Self.object(claims)
        var users: [String: UserName] = [:]
        for name in userClaims { users[name] = object[name]?.text.flatMap(UserName.init) }
        guard let anyUser = users.values.first else { throw Malformed.noUser }
        self.claims = try TokenClaims(object, of: anyUser)
        self.users = users
        self.signature = signature
        signedBytes = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    /// A JSON object that means the same to every reader (RFC 7519, section 4; RFC 8725, section 2.4). jwt-kit decodes
    /// with Foundation, which accepts repeated members and keeps one of them.
    private static func object(_ bytes: [UInt8]) throws(Malformed) -> JSONValue {
        guard let value = try? JSONValue(strict: bytes, maxMembers: maxMembers), value.members != nil else {
            throw Malformed()
        }
        return value
    }

    private static func header(_ bytes: [UInt8], noting keyID: inout String?) throws(Malformed) -> Header {
        let header = try object(bytes)
        keyID = header["kid"]?.text
        // We support no extension, and a critical one that is not supported must be refused (RFC 7515, 4.1.11).
        guard header.member("crit") == nil else { throw Malformed("The token has an unknown critical header") }
        guard let name = header["alg"]?.text else { throw Malformed() }
        guard let algorithm = SignatureAlgorithm(name: name) else {
            throw Malformed("The token's algorithm is not accepted", .invalid)
        }
        if let type = header.member("typ") {
            // A token that was made for another purpose is not an access token (RFC 8725, section 3.11).
            let names = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]
            guard let type = type.text, names.contains(type.lowercased()) else {
                throw Malformed("The token is of another type", .invalid)
            }
        }
        if header.member("kid") != nil, keyID == nil { throw Malformed() }
        return Header(algorithm: algorithm, keyID: keyID)
    }
}

extension JSONValue {
    /// The value of a member of a token or a key. One that is null counts as absent: some issuers write it so.
    func member(_ name: String) -> JSONValue? {
        if case .null? = self[name] { nil } else { self[name] }
    }
}

/// The claims of a token (RFC 7519, section 4.1).
package struct TokenClaims: Sendable, Equatable {
    /// The user whose token it is: `sub`, or of an identity provider's token the claim of the settings.
    package var subject: UserName
    /// `exp`: from this time on it is not accepted.
    package var expiresAt: Timestamp
    /// `iat`: when it was issued.
    package var issuedAt: Timestamp?
    /// `nbf`: it is not accepted before this time.
    package var notBefore: Timestamp?
    /// `iss`: who issued it.
    package var issuer: String?
    /// `aud`: the applications it is for; empty if it has none.
    package var audiences: [String] = []
    /// `jti`: its ID.
    package var tokenID: String?
    /// `securepush_entry`: the fingerprint of the user's entry in `AUTH_USERS_FILE` whose password the token was issued
    /// for. The token ends when the entry changes.
    package var userEntry: String?
}

extension TokenClaims {
    /// The claim that names the user in tokens that are issued here.
    package static let ownUserClaim = "sub"

    /// Reads the claims of a user's token. Other claims may have any value.
    fileprivate init(_ claims: JSONValue, of subject: UserName) throws(JSONWebToken.Malformed) {
        guard let expiresAt = try Self.date(claims.member("exp")) else {
            throw JSONWebToken.Malformed("The token has no expiry", .invalid)
        }
        self.init(
            subject: subject, expiresAt: expiresAt, issuedAt: try Self.date(claims.member("iat")),
            notBefore: try Self.date(claims.member("nbf")), issuer: try Self.text(claims.member("iss")),
            audiences: try Self.texts(claims.member("aud")), tokenID: claims["jti"]?.text,
            userEntry: try Self.text(claims.member("securepush_entry")))
    }

    /// The claims as the JSON of a token. Times are whole seconds, rounded down.
    var json: String {
        var json = JSONWriter()
        json.open("{")
        json.member("sub", subject.text)
        json.member("exp", expiresAt.seconds)
        if let issuedAt { json.member("iat", issuedAt.seconds) }
        if let notBefore { json.member("nbf", notBefore.seconds) }
        if let issuer { json.member("iss", issuer) }
        if audiences.count == 1 {
            json.member("aud", audiences[0])
        } else if !audiences.isEmpty {
            json.member("aud", audiences)
        }
        if let tokenID { json.member("jti", tokenID) }
        if let userEntry { json.member("securepush_entry", userEntry) }
        json.close("}")
        return json.text
    }

    /// A NumericDate (RFC 7519, section 2): seconds since the Unix epoch, which may have a fraction.
    private static func date(_ value: JSONValue?) throws(JSONWebToken.Malformed) -> Timestamp? {
        guard let value else { return nil }
        guard let seconds = value.number, abs(seconds) <= Double(Timestamp.supported.upperBound.seconds) else {
            throw JSONWebToken.Malformed("A date in the token is not a number of seconds")
        }
        return Timestamp(milliseconds: Int64((seconds * 1000).rounded(.down)))
    }

    private static func text(_ value: JSONValue?) throws(JSONWebToken.Malformed) -> String? {
        guard let value else { return nil }
        guard let text = value.text else { throw JSONWebToken.Malformed() }
        return text
    }

    private static func texts(_ value: JSONValue?) throws(JSONWebToken.Malformed) -> [String] {
        guard let value else { return [] }
        if let text = value.text { return [text] }
        guard let elements = value.elements else { throw JSONWebToken.Malformed() }
        let texts = elements.compactMap(\.text)
        guard texts.count == elements.count else { throw JSONWebToken.Malformed() }
        return texts
    }
}
