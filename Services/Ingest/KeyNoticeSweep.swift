import Domain
import Foundations
import Logging
import ServiceRuntime

/// Sends notifications about new keys for end-to-end encryption (`E2E_KEY_NOTICE`), because senders encrypt for a new
/// key even if an attacker has registered it.
///
/// A user gets at most one notification per hour, and after the last new key there is always one. Every ingest process
/// sweeps; the store gives each notice to one of them.
struct KeyNoticeSweep: Sendable {
    let notices: any KeyNoticeStore
    let acceptor: NotificationAcceptor
    let logger: Logger
    private let problem = LastingProblemLog(
        "Users cannot be told about new keys", end: "Users are told about new keys again")

    init(notices: any KeyNoticeStore, acceptor: NotificationAcceptor, logger: Logger) {
        self.notices = notices
        self.acceptor = acceptor
        self.logger = logger
    }

    static let interval = Duration.seconds(5)
    /// The most notices of one sweep, so that a shutdown does not wait long.
    static let maxNotices = 500
    /// How long other processes, and this one after a failure, ignore a notice.
    static let leaseDuration = Duration.seconds(60)
    /// A user gets at most one notification in each.
    static let period = 3600 as Int64
    /// The sender of the notifications. No API key has a colon in its name, and no user this prefix.
    static let sender = "system:keys"
    /// It is not encrypted end to end, because it contains nothing that the services do not know.
    static let text =
        "A device of yours has a new key for encrypted messages. If you have not added or reset a device, open the app "
        + "and remove the devices that you do not know."

    func sweep(now: @Sendable () -> Timestamp = { .now }) async {
        do {
            for _ in 0..<Self.maxNotices where !Task.isCancelled {
                let time = now()
                guard let notice = try await notices.leaseKeyNotice(now: time, until: time + Self.leaseDuration) else {
                    break
                }
                try await tell(notice, now: time)
            }
            problem.succeeded(to: logger)
        } catch {
            problem.failed(ErrorText.describe(error), to: logger)
        }
    }

    private func tell(_ notice: KeyNotice, now: Timestamp) async throws {
        let period = now.seconds / Self.period
        let key = IdempotentRequest.Key(sender: "\(Self.sender):\(notice.owner)", value: "\(period)")
        let outcome = try await acceptor.acceptOnce(
            key, body: [], now: now, request: .success(.keyNotice(to: notice.owner)),
            from: RequestOrigin(sender: Self.sender, traceparent: nil))
        guard outcome.isReplay else { return try await notices.settle(notice, told: now) }
        // The notification of this hour may be older than the key.
        try await notices.postpone(notice, until: Timestamp(milliseconds: (period + 1) * Self.period * 1000))
    }
}

extension CreateNotificationRequest {
    fileprivate static func keyNotice(to user: UserName) -> CreateNotificationRequest {
        var request = CreateNotificationRequest()
        request.recipients = [user]
        request.payload = [UInt8](JSONText.quoted(KeyNoticeSweep.text).utf8)
        request.presentation = .alert
        request.priority = .high
        return request
    }
}
