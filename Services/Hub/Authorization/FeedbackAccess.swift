import Crypto
import Foundation
import Foundations

/// Access to the feedback of one hub, and to nothing else, for an hour: the query of the URL of the feedback's
/// container.
///
/// A client reads the container without a token, because Azure Storage's URLs have a signature. Such a URL may be in
/// logs of clients and proxies, so it must not contain the caller's token. It is signed with a key that is derived from
/// the caller's rule, so it is invalid after the rule is removed.
struct FeedbackAccess: Sendable {
    static let lifetimeSeconds: Int64 = 3600

    let ruleName: String
    let expirySeconds: Int64
    /// Base64 of the HMAC.
    private let signature: String

    /// - Parameters:
    ///   - hubKey: the hub's name in lower case.
    ///   - key: one of the rule's keys.
    init(hubKey: String, ruleName: String, key: String, now: Timestamp = .now) {
        (self.ruleName, expirySeconds) = (ruleName, now.seconds + Self.lifetimeSeconds)
        let code = HMAC<SHA256>.authenticationCode(
            for: Self.message(hubKey, expirySeconds), using: Self.derivedKey(key))
        signature = Data(code).base64EncodedString()
    }

    /// - Returns: `nil` for a query that has no such access.
    init?(_ query: HubQuery) {
        guard let signature = query["sig"], let ruleName = query["skn"], let expiry = query["se"].flatMap(Int64.init)
        else { return nil }
        (self.ruleName, expirySeconds, self.signature) = (ruleName, expiry, signature)
    }

    /// The query of a URL.
    var query: String {
        "se=\(expirySeconds)&skn=\(PercentCoding.encode(ruleName))&sig=\(PercentCoding.encode(signature))"
    }

    func isExpired(at now: Timestamp) -> Bool { expirySeconds < now.seconds }

    /// Compares in constant time.
    func isSigned(with key: String, hubKey: String) -> Bool {
        guard let code = Data(base64Encoded: signature) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Self.message(hubKey, expirySeconds), using: Self.derivedKey(key))
    }

    /// A hub's name has no line end.
    private static func message(_ hubKey: String, _ expirySeconds: Int64) -> [UInt8] {
        Array("\(hubKey)\n\(expirySeconds)".utf8)
    }

    /// Not the key of tokens, so that a signature of one kind is not valid for the other.
    private static func derivedKey(_ key: String) -> SymmetricKey {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("feedbackcontainer".utf8), using: SymmetricKey(data: Array(key.utf8)))
        return SymmetricKey(data: Data(code))
    }
}
