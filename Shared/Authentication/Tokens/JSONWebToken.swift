internal import SecurePushCore

/// A signed token in compact form (RFC 7515, 7519), read strictly and not yet checked.
struct JSONWebToken {
    struct Header {
        let algorithm: SignatureAlgorithm
        let keyID: String?
    }

    /// Why a text is not a token that could be accepted; for the caller.
    struct Malformed: Error {
        let message: String
        init(_ message: String = "The token is malformed") { self.message = message }
    }

    /// More than any token of ours or of the usual issuers.
    static let maximumLength = 8192

    let header: Header
    let claims: TokenClaims
    let signature: [UInt8]
    /// The header and the claims as they were signed.
    let signedBytes: [UInt8]

    init(_ text: Substring) throws(Malformed) {
        guard text.utf8.count <= Self.maximumLength else { throw Malformed("The token is too long") }
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(parts[0], .url),
            let claims = Base64.decode(parts[1], .url), let signature = Base64.decode(parts[2], .url)
        else { throw Malformed() }
        self.header = try Self.header(header)
        guard !signature.isEmpty else { throw Malformed("The token has no signature") }
        self.claims = try TokenClaims(Self.object(claims))
        self.signature = signature
        signedBytes = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    /// A JSON object that means the same to everyone (RFC 7519, section 4; RFC 8725, section 2.4).
    private static func object(_ bytes: [UInt8]) throws(Malformed) -> JSONValue {
        guard let value = try? JSONValue(strict: bytes), value.members != nil else { throw Malformed() }
        return value
    }

    private static func header(_ bytes: [UInt8]) throws(Malformed) -> Header {
        let header = try object(bytes)
        // No extension is understood, and what is critical and not understood must be refused (RFC 7515, 4.1.11).
        guard header["crit"] == nil else { throw Malformed("The token has an unknown critical header") }
        guard let name = header["alg"]?.text else { throw Malformed() }
        guard let algorithm = name == "Ed25519" ? .edDSA : SignatureAlgorithm(rawValue: name) else {
            throw Malformed("The token's algorithm is not accepted")
        }
        if let type = header["typ"] {
            // A token that was made for another purpose is no access token (RFC 8725, section 3.11).
            let names = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]
            guard let type = type.text, names.contains(type.lowercased()) else {
                throw Malformed("The token is of another type")
            }
        }
        if let keyID = header["kid"], keyID.text == nil { throw Malformed() }
        return Header(algorithm: algorithm, keyID: header["kid"]?.text)
    }
}
