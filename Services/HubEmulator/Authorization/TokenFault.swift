/// Why a token is refused with 401: the sub-codes that the .NET client knows, with their words.
enum TokenFault: Int, CaseIterable, Sendable {
    case missingToken = 40102
    case invalidSignature = 40103
    case invalidAudience = 40104
    case malformedToken = 40105
    case expiredToken = 40106
    case audienceNotFound = 40107
    case expiresOnNotFound = 40108
    case issuerNotFound = 40109
    case signatureNotFound = 40110

    /// How the error's `Detail` begins. Only the text of `invalidSignature` is recorded from the real service.
    var detail: String {
        switch self {
        case .missingToken: "MissingToken: The request has no authorization token. SubCode=40102."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .invalidAudience: "InvalidAudience: The token is not good for this address. SubCode=40104."
        case .malformedToken: "MalformedToken: The token cannot be read. SubCode=40105."
        case .expiredToken: "ExpiredToken: The token is expired. SubCode=40106."
        case .audienceNotFound: "AudienceNotFound: The token has no audience (sr). SubCode=40107."
        case .expiresOnNotFound: "ExpiresOnNotFound: The token has no expiry (se). SubCode=40108."
        case .issuerNotFound: "IssuerNotFound: The token has no rule name (skn). SubCode=40109."
        case .signatureNotFound: "SignatureNotFound: The token has no signature (sig). SubCode=40110."
        }
    }
}
