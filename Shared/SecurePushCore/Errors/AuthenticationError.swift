/// Why a caller's credentials were not taken, and what to answer.
///
/// Answer 401 with each of ``challenges`` as a `WWW-Authenticate` value, except for ``Code/unavailable``: 503, and
/// ``Code/throttled``: 429 with ``retryAfter``.
public struct AuthenticationError: Error, Sendable, Equatable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case missing, malformed, invalid, expired, unavailable, throttled }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// There are no credentials, or none of a scheme that is served here.
        public static let missing = Code(.missing)
        /// The credentials do not have the form of their scheme.
        public static let malformed = Code(.malformed)
        /// The credentials are well formed and not accepted.
        public static let invalid = Code(.invalid)
        /// The token was good once.
        public static let expired = Code(.expired)
        /// The credentials could not be checked now; the same ones may be accepted later.
        public static let unavailable = Code(.unavailable)
        /// Not checked, because too many attempts of this user or client have failed.
        public static let throttled = Code(.throttled)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// What is wrong, for the caller; never anything of the credentials.
    public var message: String
    /// The values of `WWW-Authenticate` (RFC 9110, 11.6.1); empty when unavailable or throttled.
    public var challenges: [String]
    /// When another attempt is checked, for ``Code/throttled``.
    public var retryAfter: Duration?

    public init(_ code: Code, _ message: String, challenges: [String] = [], retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.challenges = challenges
        self.retryAfter = retryAfter
    }
}

extension AuthenticationError: CustomStringConvertible {
    public var description: String { "authentication \(code): \(message)" }
}
