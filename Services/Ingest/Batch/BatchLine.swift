import SecurePushCore
import ServiceRuntime

/// A line of a batch, read and not yet stored.
struct BatchLine: Sendable {
    enum Content: Sendable {
        case request(CreateNotificationRequest)
        /// What is wrong with the line.
        case refused(Problem)
        /// Nothing that an earlier batch could have accepted: it is not looked up.
        case unread(Problem)
    }

    /// From 1; lines of white space are not counted.
    let number: Int
    /// When it was read.
    let readAt: Timestamp
    /// The line itself where it has an `Idempotency-Key`, else empty.
    let text: [UInt8]
    let content: Content

    /// The bytes that it holds and will take in a transaction, about: its text; the payload once for each recipient,
    /// and the rows around it; the errors of a refused line.
    var weight: Int {
        switch content {
        case .request(let request):
            (request.payload.count + Self.overhead) * max(request.recipients.count, 1) + text.count
        case .refused(let problem), .unread(let problem):
            problem.errors.reduce(Self.overhead + text.count) { $0 + $1.pointer.utf8.count + $1.detail.utf8.count + 64 }
        }
    }

    /// The bytes that the store gets, about.
    var storedBytes: Int {
        guard case .request(let request) = content else { return 0 }
        return request.storedBytes
    }

    /// Such that a group of the least lines has 256.
    static let overhead = BatchLimit.groupBytes / 256
}

/// The limits of a batch; see docs/api.md.
enum BatchLimit {
    static let lines = 10_000
    /// As a request's body.
    static let lineBytes = CreateNotificationRequest.Limit.bodyBytes
    /// What is stored in one go.
    static let groupBytes = 1024 * 1024
    /// Results that may wait for a client that does not read. Clients that write everything before they read anything
    /// are common; with less than the results of 10,000 ordinary lines, both sides would wait for each other for ever.
    static let waitingResultBytes = 4 * 1024 * 1024
    /// The bytes that a batch takes of ``RequestBudget``: the lines that wait, and those that are being stored.
    static let heldBytes = 2 * groupBytes
    /// How long a batch may go on once the service is told to stop.
    static let drain = Duration.seconds(5)
}
