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
        /// Recipients times the bytes of the payload, as they are stored: each recipient's copy is sealed for itself.
        static let maxVolumeBytes = 8 * 1024 * 1024
    }

    /// The bytes of a notification's rows beside its payload, about.
    static let rowBytes = 1024

    /// The bytes that the store gets for this request, about.
    var storedBytes: Int { recipients.count * (payload.count + Self.rowBytes) }
}

/// Why a body is refused.
enum CreateNotificationRefusal: Error, Sendable, Equatable {
    /// Not JSON.
    case malformed(JSONSyntaxError)
    /// JSON, but some members are not as they must be: every one of them.
    case invalid(MemberIssues)
    /// The payload alone is too large: it has this number of bytes.
    case payloadTooLarge(bytes: Int)
    /// The payload times the number of recipients is too large: it is this number of bytes.
    case volumeTooLarge(bytes: Int)
}
