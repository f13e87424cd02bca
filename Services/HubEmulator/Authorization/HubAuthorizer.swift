import Crypto
import Foundation
import Synchronization

/// Checks shared access signatures against the rules of a namespace or of one hub.
///
/// Clients keep one token for many minutes, so a token that was found good is remembered and the HMAC is computed once;
/// expiry, audience and right are looked at on every request.
final class HubAuthorizer: Sendable {
    private struct VerifiedToken {
        let rights: AccessRights
        let audience: TokenAudience
        let expirySeconds: Int64
    }

    /// How far a client's clock may be behind ours.
    static let clockSkewSeconds: Int64 = 10
    private static let rememberedTokens = 1024

    private let rules: [SharedAccessRule]
    /// The host of the connection string, good as audience under whatever name the request came in.
    private let endpointHost: String
    private let verified = Mutex<[String: VerifiedToken]>([:])

    init(rules: [SharedAccessRule], endpointHost: String) {
        self.rules = rules
        self.endpointHost = endpointHost.lowercased()
    }

    /// Lets a request pass or throws 401 (bad token) or 403 (good token, missing right).
    ///
    /// - Parameters:
    ///   - authority: the request's `Host`, with or without a port.
    ///   - path: the request's path as it came, escapes and all.
    ///   - right: what the request needs; of several rights any one will do.
    ///   - hubAuthorizer: knows the rules of the hub, which are good besides those here.
    func authorize(
        _ authorization: String?, authority: String?, path: String, right: AccessRights, now: WireTime = .now,
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

    private func remembered(_ authorization: String) -> VerifiedToken? { verified.withLock { $0[authorization] } }

    private func remember(_ token: VerifiedToken, _ authorization: String) {
        verified.withLock { known in
            if known.count >= Self.rememberedTokens { known.removeAll(keepingCapacity: true) }
            known[authorization] = token
        }
    }

    private func rule(signing token: SharedAccessSignature) -> SharedAccessRule? {
        guard let mac = Data(base64Encoded: token.signature) else { return nil }
        let message = Array(token.stringToSign.utf8)
        return rules.first { rule in
            token.ruleNames.contains { $0.utf8.elementsEqual(rule.name.utf8) }
                && rule.keys.contains { key in
                    // Compares in constant time.
                    HMAC<SHA256>.isValidAuthenticationCode(
                        mac, authenticating: message, using: SymmetricKey(data: Array(key.utf8)))
                }
        }
    }
}
