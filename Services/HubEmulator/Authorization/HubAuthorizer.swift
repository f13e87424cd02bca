import Crypto
import Foundation
import Synchronization

/// Checks shared access signatures against the hub's rules.
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
    func authorize(
        _ authorization: String?, authority: String?, path: String, right: AccessRights, now: WireTime = .now
    ) throws(HubError) {
        let token = try verify(authorization)
        guard token.expirySeconds >= now.seconds - Self.clockSkewSeconds else {
            throw HubError.unauthorized(.expiredToken)
        }
        let host = TokenAudience.host(ofAuthority: authority ?? endpointHost)
        guard token.audience.host == host || token.audience.host == endpointHost,
            token.audience.segments.isEmpty
                || token.audience.covers(pathSegments: TokenAudience.segments(ofPath: path))
        else { throw HubError.unauthorized(.invalidAudience) }
        guard token.rights.contains(right) else { throw HubError.missingRight }
    }

    private func verify(_ authorization: String?) throws(HubError) -> VerifiedToken {
        if let authorization, let known = verified.withLock({ $0[authorization] }) { return known }
        let token = try SharedAccessSignature(authorization: authorization)
        guard let expirySeconds = Int64(token.expiry) else { throw HubError.unauthorized(.malformedToken) }
        guard let rule = rule(signing: token) else { throw HubError.unauthorized(.invalidSignature) }
        let result = VerifiedToken(
            rights: rule.rights, audience: TokenAudience(resource: token.resource), expirySeconds: expirySeconds)
        verified.withLock { known in
            if known.count >= Self.rememberedTokens { known.removeAll(keepingCapacity: true) }
            known[authorization ?? ""] = result
        }
        return result
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
