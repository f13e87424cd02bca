internal import SecurePushCore

extension TokenClaims {
    /// Reads a token's claims; those that are not checked here may be anything.
    init(_ claims: JSONObject) throws(JSONWebToken.Malformed) {
        guard let subject = claims["sub"]?.string.flatMap(UserName.init) else {
            throw JSONWebToken.Malformed("The token names no user")
        }
        guard let expiresAt = try Self.date(claims["exp"]) else {
            throw JSONWebToken.Malformed("The token has no expiry")
        }
        self.init(
            subject: subject, expiresAt: expiresAt, issuedAt: try Self.date(claims["iat"]),
            notBefore: try Self.date(claims["nbf"]), issuer: try Self.text(claims["iss"]),
            audiences: try Self.texts(claims["aud"]), tokenID: claims["jti"]?.string,
            userEntry: try Self.text(claims["securepush_entry"]))
    }

    /// The claims as the JSON of a token; times as whole seconds, `exp` rounded down.
    var json: String {
        var json = JSONWriter()
        json.add("sub", subject.text)
        json.add("exp", expiresAt.seconds)
        if let issuedAt { json.add("iat", issuedAt.seconds) }
        if let notBefore { json.add("nbf", notBefore.seconds) }
        if let issuer { json.add("iss", issuer) }
        if audiences.count == 1 {
            json.add("aud", audiences[0])
        } else if !audiences.isEmpty {
            json.add("aud", audiences)
        }
        if let tokenID { json.add("jti", tokenID) }
        if let userEntry { json.add("securepush_entry", userEntry) }
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
        guard let text = value.string else { throw JSONWebToken.Malformed() }
        return text
    }

    private static func texts(_ value: JSONValue?) throws(JSONWebToken.Malformed) -> [String] {
        guard let value else { return [] }
        if let text = value.string { return [text] }
        guard let elements = value.array else { throw JSONWebToken.Malformed() }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw JSONWebToken.Malformed() }
        return texts
    }
}
