import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func admit(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission] {
        let changes = requests.map { SQLiteWrite.silentPush(.admit($0, interval: interval, now: now)) }
        return try await submit(changes).map { output in
            guard case .silentPush(let admission?) = output else { throw Row.unreadable("turn") }
            return admission
        }
    }

    func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws {
        _ = try await submit(releases.map { .silentPush(.release($0, interval: interval, now: now)) })
    }
}

/// A change of ``SilentPushState`` in the store. The transaction holds the writer's lock, so reading the state and
/// writing it is one step.
enum SQLiteSilentChange: Sendable {
    case admit(SilentPushRequest, interval: Duration, now: Timestamp)
    case release(SilentPushRelease, interval: Duration, now: Timestamp)

    /// - Returns: the answer to a request; `nil` for a release.
    func execute(_ db: Database) throws -> SilentPushAdmission? {
        switch self {
        case .admit(let request, let interval, let now):
            guard let state = try SilentPushState.fetch(request.key, db) else {
                try SilentPushState.first(request, now: now).save(request.key, db)
                return .granted(SilentPushGrant(key: request.key, sequence: 1))
            }
            let (admission, changed) = state.admitting(request, interval: interval, now: now)
            if changed != state { try changed.save(request.key, db) }
            return admission
        case .release(let release, let interval, let now):
            let key = release.grant.key
            let state = try SilentPushState.fetch(key, db)
            try state?.releasing(release, interval: interval, now: now)?.save(key, db)
            return nil
        }
    }
}

extension SilentPushState {
    fileprivate static func fetch(_ key: SilentPushKey, _ db: Database) throws -> SilentPushState? {
        let arguments: StatementArguments = [key.recipient.text, key.platform.rawValue]
        guard let row = try Row.fetchOne(db.cachedStatement(sql: find), arguments: arguments) else { return nil }
        return SilentPushState(
            sequence: row[0], pushedAt: Timestamp(milliseconds: row[1]), pushedID: try id(row, 2),
            waitingID: try id(row, 3))
    }

    private static func id(_ row: Row, _ column: Int) throws -> NotificationID? {
        row.hasNull(atIndex: column) ? nil : try row.notificationID(column)
    }

    fileprivate func save(_ key: SilentPushKey, _ db: Database) throws {
        try db.cachedStatement(sql: Self.save).execute(arguments: [
            key.recipient.text, key.platform.rawValue, sequence, pushedAt.milliseconds, pushedID?.data, waitingID?.data,
        ])
    }

    static let find = """
        SELECT turn, pushed_at, pushed_id, waiting_id FROM silent_pushes WHERE recipient = ? AND platform = ?
        """

    static let save = """
        INSERT INTO silent_pushes (recipient, platform, turn, pushed_at, pushed_id, waiting_id)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (recipient, platform) DO UPDATE SET turn = excluded.turn, pushed_at = excluded.pushed_at,
            pushed_id = excluded.pushed_id, waiting_id = excluded.waiting_id
        """
}

extension SQLiteWrite {
    /// Lets the sweep of unpublished entries find a notification at a time. The entry looks confirmed, so that a late
    /// confirm of its last publish does not change it, and its claim has ended.
    static func postpone(_ id: NotificationID, until due: Timestamp, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE notifications SET claimed_at = NULL WHERE id = ?")
            .execute(arguments: [id.data])
        try db.cachedStatement(sql: postponeEntry).execute(arguments: [due.milliseconds, id.data])
    }

    static let postponeEntry = """
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT id, ?, \(SQLiteSchema.never), traceparent FROM notifications WHERE id = ?
        ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        """
}
