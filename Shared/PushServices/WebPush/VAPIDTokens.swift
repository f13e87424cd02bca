import Domain
import Foundations
import Synchronization

/// The tokens that tell push services who we are (VAPID, RFC 8292): one for each push service and key, made once and
/// used for hours, since Apple wants no new one more than once in an hour.
final class VAPIDTokens: Sendable {
    struct Token: Sendable, Hashable {
        /// The value of `Authorization`.
        let authorization: String
        fileprivate let expiresAt: Timestamp
        /// Whether the push service has accepted a push with this very token. Then it is good, and a later refusal is
        /// about the device: its subscription is one of another key.
        fileprivate(set) var isProven = false
    }

    private struct Place: Hashable {
        let origin: PushOrigin
        let key: String
    }

    /// At most 24 hours (RFC 8292, section 2). A push service whose clock is 11 hours behind still takes it.
    private static let lifetime = Duration.seconds(12 * 3_600)
    /// With less than this left, a new one is made. The margin is for clocks that differ.
    private static let margin = Duration.seconds(6 * 3_600)
    /// Devices choose the hosts below one that the operator allows, so their number has a bound.
    private static let maxTokens = 1_000

    private static let header = #"{"typ":"JWT","alg":"ES256"}"#
    private let subject: String
    private let tokens = Mutex<[Place: Token]>([:])

    /// - Parameter subject: the contact of the sender, a `mailto:` or `https:` URI that needs no escape in JSON.
    init(subject: String) { self.subject = subject }

    /// The token for a push service.
    ///
    /// - Returns: `nil` only if the library fails for lack of memory.
    func token(for origin: PushOrigin, key: ES256Key, now: Timestamp) -> Token? {
        let place = Place(origin: origin, key: key.id)
        return tokens.withLock { tokens in
            // The upper bound ends a token that was made before the clock was set back by hours.
            let usable = now + Self.margin...now + (Self.lifetime + Self.margin)
            if let token = tokens[place], usable.contains(token.expiresAt) { return token }
            let expiresAt = now + Self.lifetime
            let claims = #"{"aud":"\#(origin.text)","exp":\#(expiresAt.seconds),"sub":"\#(subject)"}"#
            guard let text = key.token(header: Self.header, claims: claims) else { return nil }
            if tokens.count >= Self.maxTokens, let oldest = tokens.min(by: { $0.value.expiresAt < $1.value.expiresAt })
            {
                tokens[oldest.key] = nil
            }
            let token = Token(authorization: "vapid t=\(text), k=\(key.publicText)", expiresAt: expiresAt)
            tokens[place] = token
            return token
        }
    }

    /// Notes that the push service has accepted a push with this token.
    func prove(_ token: Token, for origin: PushOrigin, key: ES256Key) {
        guard !token.isProven else { return }
        let place = Place(origin: origin, key: key.id)
        tokens.withLock { tokens in
            if tokens[place]?.authorization == token.authorization { tokens[place]?.isProven = true }
        }
    }
}
