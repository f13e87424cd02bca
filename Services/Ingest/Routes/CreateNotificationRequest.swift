import SecurePushCore

/// The body of `POST /api/notifications`, read and checked.
struct CreateNotificationRequest: Sendable {
    /// One, or with `Recipients` up to 1,000.
    var recipients: [UserName] = []
    /// Whether `Recipients` was given: the answer is a list then.
    var isForMany = false
    /// The JSON text of the payload, as it came.
    var payload: [UInt8] = []
    var presentation = Presentation.silent
    var alert: AlertText?
    var platforms: [Platform]?
    var expiresAt: Timestamp?
    var notBefore: Timestamp?
    var collapseKey: String?
    var priority: Priority?

    /// The limits of the contract.
    enum Limit {
        static let recipients = 1000
        static let payloadBytes = 256 * 1024
        static let bodyBytes = 2 * 1024 * 1024
        static let collapseKeyBytes = 64
        static let alertTextBytes = 1024
    }
}

/// Something that is wrong with a member of a request.
struct ValidationIssue: Sendable, Hashable {
    /// RFC 6901, in the contract's own spelling of names.
    var pointer: String
    var detail: String
}

/// Why a body is refused.
enum CreateNotificationRefusal: Error, Sendable, Equatable {
    /// Not JSON.
    case malformed(JSONSyntaxError)
    /// JSON, but some members are not as they must be: every one of them.
    case invalid([ValidationIssue])
    /// The payload alone is too large, by this number of bytes.
    case payloadTooLarge(bytes: Int)
}
