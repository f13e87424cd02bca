import Foundations

/// Why a call of the store failed.
package struct StorageError: CodedError {
    package enum Code: Hashable, Sendable {
        /// The store cannot be reached, or it is starting or stopping. Nothing was done.
        case unavailable
        /// Too much is waiting to be stored or read. Nothing was done.
        case overloaded
        /// The connection broke while a statement was in flight. The statement may have been executed.
        case connectionLost
        /// There was no answer in time. The statement may have been executed.
        case timeout
        /// The schema is older or newer than this program. Run `securepush migrate`, or the newer program.
        case migrationNeeded
        /// The configuration is not valid.
        case invalid
        /// The database refused a statement, or a row cannot be read.
        case failed
    }

    package static var domain: String { "storage" }

    package var code: Code
    /// A description of the error for an operator.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same call may succeed later.
    package var isRetriable: Bool {
        code == .unavailable || code == .overloaded || code == .connectionLost || code == .timeout
    }
}

/// Why the broker did not confirm a message. All of them can be retried: the outbox publishes the message again.
package struct MessagingError: CodedError {
    package enum Code: Hashable, Sendable {
        /// There is no connection to the broker.
        case notConnected
        /// The broker accepts no messages (`connection.blocked`: a memory or disk alarm).
        case blocked
        /// The broker refused the message (`basic.nack`).
        case nacked
        /// No queue is bound for the message (`basic.return`).
        case returned
        /// The broker sent no confirm in time.
        case timeout
        /// The connection broke before the confirm.
        case connectionLost
        /// Too many messages are in flight.
        case full
    }

    package static var domain: String { "messaging" }

    package var code: Code
    /// A description of the error for an operator.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Why a request to the hub failed. Sends have ``SendOutcome`` instead.
package struct PushGatewayError: CodedError {
    package enum Code: Hashable, Sendable {
        /// 410: the hub has dropped this registration ID. The device has to create a new one.
        case gone
        /// 429, or 403 with `Retry-After`.
        case throttled
        /// 408, 5xx, no answer in time, or no connection.
        case unavailable
        /// 400 and similar: the hub does not accept this request.
        case rejected
        /// 401, or 403 without `Retry-After`: the hub does not accept our credentials.
        case unauthorized
    }

    package static var domain: String { "hub" }

    package var code: Code
    /// A description of the error for an operator.
    package var message: String
    /// How long the hub asks to wait, if it does.
    package var retryAfter: Duration?
    /// With code `rejected`, if the hub refuses the content of the request (400, 413): the hub's message, which may
    /// contain a handle; empty if there is none.
    package var refusal: String?

    package init(_ code: Code, _ message: String, retryAfter: Duration? = nil, refusal: String? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.refusal = refusal
    }
}

/// Why the credentials of a caller were refused, and how to answer.
///
/// Answer 401 with each of ``challenges`` as a `WWW-Authenticate` value. Two codes have other answers:
/// ``Code/unavailable`` is 503, and ``Code/throttled`` is 429 with ``retryAfter``.
package struct AuthenticationError: CodedError {
    package enum Code: Hashable, Sendable {
        /// There are no credentials, or none of a scheme that this API accepts.
        case missing
        /// The credentials do not have the form of their scheme.
        case malformed
        /// The token is longer than the limit, so a new one of the same kind would be refused too.
        case tooLong
        /// The credentials are well formed and not accepted.
        case invalid
        /// The token was valid and has expired.
        case expired
        /// The credentials cannot be checked at the moment. The same ones may be accepted later.
        case unavailable
        /// The credentials were not checked because too many attempts of this user or client have failed.
        case throttled
    }

    package static var domain: String { "authentication" }

    package var code: Code
    /// A description of the error for the caller.
    package var message: String
    /// The values of `WWW-Authenticate` (RFC 9110, section 11.6.1); empty for `unavailable`, `throttled` and `tooLong`.
    package var challenges: [String]
    /// When the next attempt will be checked, for ``Code/throttled``.
    package var retryAfter: Duration?
    /// How long the answer is held back, because this client has sent many wrong passwords. The caller waits, so that a
    /// delayed answer does not count as a request in flight.
    package var delay: Duration

    package init(
        _ code: Code, _ message: String, challenges: [String] = [], retryAfter: Duration? = nil,
        delay: Duration = .zero
    ) {
        self.code = code
        self.message = message
        self.challenges = challenges
        self.retryAfter = retryAfter
        self.delay = delay
    }

    /// The same error with other challenges.
    package func with(challenges: [String]) -> AuthenticationError {
        var error = self
        error.challenges = challenges
        return error
    }
}

/// Why a payload cannot be sealed or opened.
package struct PayloadError: CodedError {
    package enum Code: Hashable, Sendable {
        /// The key ring does not hold the key that the payload was sealed with.
        case unknownKey
        /// The payload was changed, or it was sealed for another notification or user.
        case notAuthentic
        /// The payload is too short to be a sealed one.
        case malformed
        /// The cipher failed.
        case failed
    }

    package static var domain: String { "payload" }

    package var code: Code
    /// A description of the error for an operator.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
