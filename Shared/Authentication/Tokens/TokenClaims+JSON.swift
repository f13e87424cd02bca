internal import SecurePushCore

extension TokenClaims {
    /// Reads a token's claims; those that are not checked here may be anything.
    init(_ claims: JSONValue) throws(JSONWebToken.Malformed) {
        guard let subject = claims["sub"]?.text.flatMap(UserName.init) else {
            throw JSONWebToken.Malformed("The token names no user")
        }
        guard let expiresAt = try Self.date(claims["exp"]) else {
            throw JSONWebToken.Malformed("The token has no expiry")
        }
        self.init(
            subject: subject, expiresAt: expiresAt, issuedAt: try Self.date(claims["iat"]),
            notBefore: try Self.date(claims["nbf"]), issuer: try Self.text(claims["iss"]),
            audiences: try Self.texts(claims["aud"]), tokenID: claims["jti"]?.text,
            userEntry: try Self.text(claims["securepush_entry"]))
    }

    /// The claims as the JSON of a token; times as whole seconds, `exp` rounded down.
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

    /// A NumericDate (RFC 7519, section 2): seconds since the epoch, whole or not.
    private static func date(_ value: JSONValue?) throws(JSONWebToken.Malformed) -> Timestamp? {
        guard let value else { return nil }
        // Past the year 9999 nothing more is said by a number.
        guard let seconds = value.number, abs(seconds) <= 253_402_300_799 else {
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
