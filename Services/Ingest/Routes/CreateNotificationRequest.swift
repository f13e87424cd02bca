import Domain
import Foundations
import HTTPTypes
import ServiceRuntime

/// The body of `POST /api/notifications`, read and checked.
struct CreateNotificationRequest: Sendable {
    /// One, or with `Recipients` up to 1,000.
    var recipients: [UserName] = []
    /// Whether the body has `Recipients`: the response is a list then.
    var isForMany = false
    /// The JSON text of the payload, exactly as received.
    var payload: [UInt8] = []
    var presentation = Presentation.silent
    var alert: AlertText?
    var platforms: [Platform]?
    var expiresAt: Timestamp?
    var notBefore: Timestamp?
    var collapseKey: String?
    var priority: Priority?
    /// The time from each push to the next reminder.
    var remind: [Duration] = []
    var display = Display.full
    /// The IDs of the answers that the recipient may give; empty for none.
    var answers: [String] = []
    /// The text that a device has to send with an answer.
    var challenge: String?

    /// The limits of the contract.
    enum Limit {
        static let maxRecipients = 1000
        static let maxPayloadBytes = 256 * 1024
        static let maxBodyBytes = 2 * 1024 * 1024
        static let maxCollapseKeyBytes = 64
        static let maxAlertTextBytes = 1024
        /// The number of recipients times the stored size of the payload: each recipient's copy is sealed separately.
        static let maxVolumeBytes = 8 * 1024 * 1024
    }

    /// The approximate size of a notification's rows without the payload, in bytes.
    static let rowBytes = 1024

    /// The approximate number of bytes that the store gets for this request.
    var storedBytes: Int { recipients.count * (payload.count + Self.rowBytes) }

    /// One notification per recipient, each with an ID of its own.
    func notifications(
        sender: String, retention: Duration, now: Timestamp, traceparent: String?
    ) -> [Notification] {
        recipients.map { recipient in
            Notification(
                id: NotificationID(), sender: sender, recipient: recipient, presentation: presentation,
                alert: alert, platforms: platforms, createdAt: now, expiresAt: expiresAt ?? now + retention,
                expiryBoundsPush: expiresAt != nil, notBefore: notBefore, collapseKey: collapseKey, priority: priority,
                traceparent: traceparent, remind: remind, display: display)
        }
    }

    /// The tutorial's "Send push": a fixed text that a user sends to themselves with an empty body.
    static func confirmation(to user: UserName) -> CreateNotificationRequest {
        var request = CreateNotificationRequest()
        request.recipients = [user]
        request.payload = [UInt8](#""Secure confirmation.""#.utf8)
        return request
    }
}

/// Why a body is refused.
enum CreateNotificationRefusal: Error, Sendable, Equatable {
    /// The text is not JSON.
    case malformed(JSONSyntaxError)
    /// The text is JSON, but these members are invalid.
    case invalid(MemberIssues)
    /// The payload has this number of bytes, which is too many.
    case payloadTooLarge(bytes: Int)
    /// The payload times the number of recipients has this number of bytes, which is too many.
    case volumeTooLarge(bytes: Int)

    /// The response to a refused text.
    ///
    /// - Parameter text: its name in the response: body or line.
    func problem(of text: StaticString) -> Problem {
        switch self {
        case .malformed(let error):
            .badRequest("The \(text) is not JSON: \(error).")
        case .invalid(let issues):
            .invalidFields(issues)
        case .payloadTooLarge(let bytes):
            Problem(
                .contentTooLarge, "The payload may be at most 256 KiB, not \(bytes) bytes.",
                errors: [MemberIssues.Issue(pointer: "/Payload", detail: "The payload is too large.")])
        case .volumeTooLarge(let bytes):
            Problem(
                .contentTooLarge,
                "The payload size times the number of recipients may be at most 8 MiB, not \(bytes) bytes.",
                errors: ["/Recipients", "/Payload"].map {
                    MemberIssues.Issue(
                        pointer: $0, detail: "Send to fewer recipients per request, or a smaller payload.")
                })
        }
    }
}
