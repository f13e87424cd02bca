import Foundations

/// How an access token is asked for: the form that is posted to a token service (RFC 6749, section 4), with the
/// credentials in it.
struct AccessTokenGrant: Sendable {
    let endpoint: PushDestination
    /// The parameters. They are made for each request, because an assertion has the time in it.
    private let parameters: @Sendable (Timestamp) -> [(name: String, value: String)]?

    /// An application with a secret (RFC 6749, section 4.4), as Microsoft's token services want it.
    static func clientSecret(
        id: String, secret: String, scope: String, endpoint: PushDestination
    ) -> AccessTokenGrant {
        AccessTokenGrant(endpoint: endpoint) { _ in
            [
                ("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret), ("scope", scope),
            ]
        }
    }

    /// A service account that signs an assertion (RFC 7523), as Google's token service wants it.
    ///
    /// - Parameters:
    ///   - issuer: the account's e-mail address.
    ///   - audience: the token service, as the account's file names it.
    static func serviceAccount(
        issuer: String, keyID: String?, key: RS256Key, scope: String, audience: String, endpoint: PushDestination
    ) -> AccessTokenGrant {
        var header = JSONWriter()
        header.object { object in
            object.member("alg", "RS256")
            object.member("typ", "JWT")
            if let keyID { object.member("kid", keyID) }
        }
        return AccessTokenGrant(endpoint: endpoint) { [header = header.text] now in
            var claims = JSONWriter()
            claims.object { object in
                object.member("iss", issuer)
                object.member("scope", scope)
                object.member("aud", audience)
                object.member("iat", now.seconds)
                // Google takes no more than an hour.
                object.member("exp", (now + .seconds(3_600)).seconds)
            }
            guard let assertion = key.token(header: header, claims: claims.text) else { return nil }
            return [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)]
        }
    }

    /// - Returns: `nil` only if the library that signs fails for lack of memory.
    func request(now: Timestamp) -> PushHTTPRequest? {
        guard let parameters = parameters(now) else { return nil }
        let form = parameters.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
        let headers = [
            PushHTTPField("content-type", "application/x-www-form-urlencoded"),
            PushHTTPField("accept", "application/json"),
        ]
        return PushHTTPRequest(
            origin: endpoint.origin, path: endpoint.path, headers: headers, body: Array(form.utf8))
    }
}
