import SecurePushCore

/// What became of one notification that was pushed.
enum PushResult: Sendable, Equatable {
    case accepted(NotificationID)
    /// Not taken, with the reason that failures are counted by: a status (`503`), or words (`no answer in time`).
    case failed(String)
}

/// How far a notification has come, as its sender is told.
struct PushedState: Sendable, Equatable {
    var createdAt: Timestamp
    var status: NotificationStatus
    /// When the hub had taken it for the last platform that took it.
    var sentAt: Timestamp?
}

/// A page of the sender's notifications, newest first.
struct PushedPage: Sendable, Equatable {
    var notifications: [(id: NotificationID, status: NotificationStatus)]
    /// Where the next page begins.
    var next: NotificationID?

    static func == (lhs: PushedPage, rhs: PushedPage) -> Bool {
        lhs.next == rhs.next && lhs.notifications.elementsEqual(rhs.notifications, by: ==)
    }
}

/// The ingest service, as a load test uses it.
protocol LoadTarget: Sendable {
    /// Pushes notifications in one request, and reports each as soon as the answer tells.
    ///
    /// - Throws: when the service refuses the request for what it is; every other one would fare the same.
    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws

    func state(of id: NotificationID) async throws -> PushedState

    /// - Parameter id: only older ones than this.
    func page(before id: NotificationID?) async throws -> PushedPage
}

extension NotificationStatus {
    /// Whether dispatching has nothing left to do.
    var isFinal: Bool { self != .accepted && self != .queued }
}
