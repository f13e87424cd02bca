import Crypto
import Foundation
import Foundations
import Synchronization

/// Checks shared access signatures against the rules of a namespace or of one hub.
///
/// Clients keep one token for many minutes, so valid tokens are remembered and their HMAC is computed once. Expiry,
/// audience and right are checked on every request.
final class HubAuthorizer: Sendable {
    private struct VerifiedToken {
        let rights: AccessRights
        let audience: TokenAudience
        let expirySeconds: Int64
    }

    /// The tolerance for a client's clock that is behind ours.
    static let clockSkewSeconds: Int64 = 10
    private static let maxRemembered = 1024
    /// The longest token that is remembered, in bytes; those of Azure's clients have some hundred.
    private static let maxRememberedBytes = 2048

    private let rules: [SharedAccessRule]
    /// The host of the connection string: a valid audience whatever the `Host` of the request.
    private let endpointHost: String
    private let verified = Mutex<[String: VerifiedToken]>([:])

    init(rules: [SharedAccessRule], endpointHost: String) {
        self.rules = rules
        self.endpointHost = endpointHost.lowercased()
    }

    /// Checks the token of a request.
    ///
    /// - Parameters:
    ///   - authority: the request's `Host`, with or without a port.
    ///   - path: the request's path with its escapes.
    ///   - right: the rights, of which one is enough.
    ///   - hubAuthorizer: checks tokens under the rules of the hub, which are valid besides those here.
    /// - Throws: 401 for an invalid token, 403 for a valid one without the right.
    func authorize(
        _ authorization: String?, authority: String?, path: String, right: AccessRights, now: Timestamp = .now,
        hubAuthorizer: HubAuthorizer? = nil
    ) throws(HubError) {
        let token = try verify(authorization, hubAuthorizer)
        guard token.expirySeconds >= now.seconds - Self.clockSkewSeconds else {
            throw HubError.unauthorized(.expiredToken)
        }
        let host = TokenAudience.host(ofAuthority: authority ?? endpointHost)
        guard token.audience.host == host || token.audience.host == endpointHost,
            token.audience.segments.isEmpty
                || token.audience.covers(pathSegments: TokenAudience.segments(ofPath: path))
        else { throw HubError.unauthorized(.invalidAudience) }
        guard !token.rights.isDisjoint(with: right) else { throw HubError.missingRight }
    }

    private func verify(
        _ authorization: String?, _ hubAuthorizer: HubAuthorizer?
    ) throws(HubError) -> VerifiedToken {
        if let authorization, let known = remembered(authorization) ?? hubAuthorizer?.remembered(authorization) {
            return known
        }
        let token = try SharedAccessSignature(authorization: authorization)
        guard let expirySeconds = Int64(token.expiry) else { throw HubError.unauthorized(.malformedToken) }
        for authorizer in [self, hubAuthorizer] {
            guard let authorizer, let rule = authorizer.rule(signing: token) else { continue }
            let result = VerifiedToken(
                rights: rule.rights, audience: TokenAudience(resource: token.resource), expirySeconds: expirySeconds)
            authorizer.remember(result, authorization ?? "")
            return result
        }
        throw HubError.unauthorized(.invalidSignature)
    }

    /// The number of tokens that are remembered.
    var rememberedCount: Int { verified.withLock { $0.count } }

    private func remembered(_ authorization: String) -> VerifiedToken? { verified.withLock { $0[authorization] } }

    private func remember(_ token: VerifiedToken, _ authorization: String) {
        guard authorization.utf8.count <= Self.maxRememberedBytes else { return }
        verified.withLock { known in
            if known.count >= Self.maxRemembered { known.removeAll(keepingCapacity: true) }
            known[authorization] = token
        }
    }

    private func rule(signing token: SharedAccessSignature) -> SharedAccessRule? { signer(of: token)?.rule }

    private func signer(of token: SharedAccessSignature) -> (rule: SharedAccessRule, key: String)? {
        guard let mac = Data(base64Encoded: token.signature) else { return nil }
        let message = Array(token.stringToSign.utf8)
        for rule in rules where token.ruleNames.contains(where: { $0.utf8.elementsEqual(rule.name.utf8) }) {
            for key in rule.keys {
                // Compares in constant time.
                if HMAC<SHA256>.isValidAuthenticationCode(
                    mac, authenticating: message, using: SymmetricKey(data: Array(key.utf8)))
                {
                    return (rule, key)
                }
            }
        }
        return nil
    }

    // MARK: Feedback

    /// Access to a hub's feedback under the rule that signed a token; `nil` if none of these rules did.
    ///
    /// - Parameter authorization: the token of a request that is authorized already.
    func feedbackAccess(for authorization: String?, hubKey: String) throws(HubError) -> FeedbackAccess? {
        let token = try SharedAccessSignature(authorization: authorization)
        return signer(of: token).map { FeedbackAccess(hubKey: hubKey, ruleName: $0.rule.name, key: $0.key) }
    }

    /// Whether one of these rules gives the access, and may read feedback.
    func grants(_ access: FeedbackAccess, hubKey: String) -> Bool {
        rules.contains { rule in
            rule.rights.contains(.manage) && rule.name.utf8.elementsEqual(access.ruleName.utf8)
                && rule.keys.contains { access.isSigned(with: $0, hubKey: hubKey) }
        }
    }
}

/// Why a token is refused with 401: the sub-codes that the .NET client knows.
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

    /// The start of the error's `Detail`. Only the text of `invalidSignature` is recorded from the real service.
    var detail: String {
        switch self {
        case .missingToken: "MissingToken: The request has no authorization token. SubCode=40102."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .invalidAudience: "InvalidAudience: The token is not valid for this address. SubCode=40104."
        case .malformedToken: "MalformedToken: The token cannot be read. SubCode=40105."
        case .expiredToken: "ExpiredToken: The token has expired. SubCode=40106."
        case .audienceNotFound: "AudienceNotFound: The token has no audience (sr). SubCode=40107."
        case .expiresOnNotFound: "ExpiresOnNotFound: The token has no expiry (se). SubCode=40108."
        case .issuerNotFound: "IssuerNotFound: The token has no rule name (skn). SubCode=40109."
        case .signatureNotFound: "SignatureNotFound: The token has no signature (sig). SubCode=40110."
        }
    }
}
