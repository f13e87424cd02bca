package import Foundations

/// The store as the dispatcher uses it: it claims notifications and records the results.
package protocol DispatchStore: Sendable {
    /// Reads the plans of notifications whose first attempt is open, and writes nothing. Call it only with IDs of
    /// deliveries that own the first attempt (``DispatchDelivery/ownsFirstAttempt``).
    ///
    /// The first attempt is open if the row was stored with it (``SealedNotification/claimsFirstAttempt``), and nobody
    /// has claimed the notification, entered work on it or recorded an outcome. Other IDs are absent from the answer,
    /// and so are those whose outbox entry is due within ``OutboxPolicy/notice``, and those whose `NotBefore` is after
    /// `now`: claim these.
    ///
    /// Work that takes longer than ``OutboxPolicy/entry`` must be entered (``enter(_:now:)``), because the outbox does
    /// not see it otherwise.
    ///
    /// - Throws: ``StorageError``, also if the store is known to take no writes now: a push that cannot be recorded
    ///   must not be sent. Repeating it is harmless.
    ///
    /// Decision: docs/decisions/0002-attempt-on-record-before-the-push.md
    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims

    /// Enters the work on first attempts that ``begin(_:now:)`` has returned: stores the time, and an accepted
    /// notification becomes queued. Changes only rows whose first attempt is still open, so repeating it is harmless.
    func enter(_ ids: [NotificationID], now: Timestamp) async throws

    /// Claims notifications in one statement: increments the attempt of each, stores the time, and returns its plan. An
    /// accepted notification becomes queued; any other status stays. An unknown ID is absent from the answer, and an ID
    /// that is given twice is claimed once.
    ///
    /// A row that this program cannot read is reported by its ID. It does not keep other rows from being claimed.
    /// Neither does a row whose `NotBefore` is after `now` (``DispatchClaims/early``). It stays as it is: the outbox
    /// publishes it when its time has come, and whatever is in the broker before that has another origin.
    ///
    /// - Parameter first: the IDs among them whose deliveries own the first attempt. If it is still open, this is it:
    ///   the number stays 1.
    /// - Throws: ``StorageError`` if the statement as a whole failed. Repeating it increments the attempts again, so
    ///   repeat it only if ``StorageError/isRetriable``.
    func claim(_ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp) async throws -> DispatchClaims

    /// Removes notifications with rows that cannot be read, or that the store refuses to change, from the outbox, after
    /// a dead letter was published for each. Otherwise their IDs would be published and dead-lettered again and again.
    /// The rows stay unchanged.
    func abandon(_ ids: [NotificationID]) async throws

    /// Stores outcomes, each only if its attempt is still the newest. Also changes the outbox: the entry of a final
    /// outcome (``DispatchOutcome/isFinal``) is removed. The entry of a notification that is to be tried again counts
    /// as published and is due ``OutboxPolicy/redelivery`` after the next try. The entry of one that waits
    /// (``DispatchOutcome/dueAgain``) is leased at that time like an unpublished one, and its claim has ended.
    ///
    /// The same statement creates the follow-ups of an accepted push: the first reminder
    /// (``DispatchOutcome/pushedAt``), and a withdrawal if the notification was revoked, or read, in the meantime.
    ///
    /// Those that wait may be stored after the others, so a call that throws may have stored the others. Storing an
    /// outcome once more with the same attempt changes nothing.
    ///
    /// - Returns: the notifications that were claimed again in the meantime. The later claim owns the follow-ups.
    @discardableResult
    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID>

    // `DISPATCH_REGISTERED_ONLY`.

    /// The platforms on which each user has an installation or a registration. A user without any is absent.
    func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>]

    // The follow-ups.
    //
    // The rows are made elsewhere: a withdrawal by the later one of ``DispatchStore/record(_:)`` and
    // ``SenderNotifications/revoke(_:sender:now:)`` or ``NotificationReader/markRead(_:at:)``, in the same
    // transaction; a reminder by ``DispatchStore/record(_:)`` (``DispatchOutcome/pushedAt``). A revocation withdraws
    // every push, a read those whose deliveries say so (``Delivery/isWithdrawnOnRead``). The dispatcher that claims a
    // withdrawal may drop it.

    /// Claims follow-ups in one transaction: increments the attempt of each and returns its plan, whose platforms are
    /// those that accepted the push.
    ///
    /// The claim of a reminder uses up its step before anything is sent, and makes the next step due. So no step is
    /// sent twice, whatever is delivered twice; after a crash it is lost. A step can be claimed only while the
    /// notification is neither read nor revoked nor expired. Follow-ups that cannot be claimed are absent from the
    /// answer.
    ///
    /// - Throws: ``StorageError``.
    func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims

    /// Stores outcomes in one transaction, each only if its attempt is still the newest.
    ///
    /// With a next try the follow-up is due again then. A reminder's next try repeats its step, unless the next step is
    /// due by now. Without one, a withdrawal is done.
    ///
    /// A step of a reminder counts as sent (``ReminderProgress/sent``) with its first outcome in which a platform has
    /// accepted it. An outcome that is stored twice counts once.
    func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws

    /// Ends follow-ups whose rows cannot be read, or that the store refuses for good, after a dead letter was published
    /// for each. Otherwise they would fall due and be dead-lettered again and again. The rest of the rows stays.
    func abandonFollowUps(_ followUps: [FollowUp]) async throws

    // The last silent push of each recipient on each platform. All dispatchers share it (`SILENT_PUSH_MIN_INTERVAL`).
    //
    // A push is recorded before it is sent. If a dispatcher dies then, the push may have been sent, so the recipient's
    // next one waits for the interval, and so does the notification itself. Nothing is lost: it stays owed.

    /// Asks for silent pushes, and records those that are granted; see ``SilentPushState/admitting(_:interval:now:)``.
    ///
    /// - Parameter requests: at most one for each recipient and platform.
    /// - Returns: the answers in the order of the requests.
    /// - Throws: ``StorageError``. A push may have been granted if the code is `connectionLost` or `timeout`.
    func admit(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission]

    /// Gives back pushes that the hub has certainly not accepted, so that the next one need not wait. A grant that is
    /// not the newest of its recipient and platform changes nothing.
    func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws

    // The deliveries whose outcome at the hub is not known yet.
    //
    // No row is written for it when a notification is pushed. Instead, one dispatcher at a time reads along the
    // notifications in the order in which they became due to be sent, several times with growing delays
    // (``OutcomePass``). The places that it has reached are stored, so that another process continues there.

    /// Takes the lease for asking the hub, or renews it.
    ///
    /// - Parameters:
    ///   - holder: a number that identifies the process.
    ///   - until: the lease ends by itself at this time.
    /// - Returns: the places that the passes have reached, by their position in ``OutcomePass/all``; passes at the end
    ///   may be missing. `nil` if another process holds the lease.
    func leaseOutcomes(holder: Int64, now: Timestamp, until: Timestamp) async throws -> [OutcomeCursor]?

    /// Stores the places that the passes have reached, and makes the lease end at another time.
    ///
    /// - Returns: `false` if another process has taken the lease; nothing is changed then.
    func saveOutcomes(holder: Int64, cursors: [OutcomeCursor], until: Timestamp) async throws -> Bool

    /// Reads the next deliveries without an outcome. It examines at most ``OutcomePolicy/maxScan`` rows along an index.
    /// Rows that this program cannot read are left out.
    func awaitingOutcome(_ query: OutcomeQuery) async throws -> OutcomePage

    /// Stores the deliveries of notifications with their outcomes. A notification is not changed if it has been
    /// claimed since it was read, or if it is not final any more.
    func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws
}
