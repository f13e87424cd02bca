import Foundation
import GRDB
import SecurePushCore

/// A change of devices and their leases. The transaction holds the writer's lock, so nothing changes between a check
/// and the write that depends on it.
enum SQLiteDeviceChange: Sendable {
    case lease(DeviceLease.Kind, String, DeviceLease.Condition, now: Timestamp)
    case end(DeviceLease, DeviceLease.Change, now: Timestamp)
    case expire(DeviceLease, now: Timestamp)
    case leaseNewHandle(now: Timestamp, until: Timestamp)
    case settleNewHandle([String])
    case setEncryptionKey(EncryptionKey, of: String, owner: UserName, now: Timestamp)
    case setPlaces([DevicePlace], of: DeviceLease)

    func execute(_ db: Database) throws -> SQLiteWrite.Output {
        switch self {
        case .lease(let kind, let id, let condition, let now):
            return .deviceLease(try Self.lease(kind, id, condition, now: now, db))
        case .end(let lease, let change, let now):
            return .deviceLeaseEnded(try Self.end(lease, change, now: now, db))
        case .expire(let lease, let now):
            try db.cachedStatement(sql: Self.expireLease).execute(arguments: [
                now.milliseconds, lease.kind.rawValue, lease.id, lease.token,
            ])
        case .leaseNewHandle(let now, let until):
            return .newHandle(try Self.leaseNewHandle(now: now, until: until, db))
        case .settleNewHandle(let handles):
            for handle in handles {
                for sql in [Self.settleInstallations, Self.settleRegistrations] {
                    try db.cachedStatement(sql: sql).execute(arguments: [handle])
                }
            }
        case .setEncryptionKey(let key, let id, let owner, let now):
            return .encryptionKeySet(try Self.save(key, of: id, owner: owner, now: now, db))
        case .setPlaces(let places, let lease):
            return .deviceLeaseEnded(try Self.set(places, of: lease, db))
        }
        return .done
    }

    private static func lease(
        _ kind: DeviceLease.Kind, _ id: String, _ condition: DeviceLease.Condition, now: Timestamp, _ db: Database
    ) throws -> DeviceLease.Outcome {
        let known = try KnownDevice.fetch(kind, id, db)
        guard isMet(condition, by: known) else { return .refused }
        let held = try Int64.fetchOne(
            db.cachedStatement(sql: leaseEnd), arguments: [kind.rawValue, id])
        if let held, held > now.milliseconds { return .busy }
        var lease = DeviceLease(
            kind: kind, id: known?.id ?? id, token: .random(in: .min ... .max), isInDoubt: held != nil)
        let claimant = condition.claimant
        if let claimant, known?.owner != claimant.owner {
            let count = try count(of: claimant.owner, besides: (kind, id), handles: claimant.handles, db)
            if count >= Installation.maxPerUser { return .tooMany }
            if known == nil, case .claimed(let installation, let handles) = condition {
                let newHandleAt = try newHandleAt(kind, id, handles, now: now, db)
                try SQLiteWrite.save(installation, newHandleAt: newHandleAt, db)
                lease.isNew = true
            }
        }
        try db.cachedStatement(sql: takeLease).execute(arguments: [
            kind.rawValue, lease.id, lease.token, (now + DeviceLease.duration).milliseconds,
            claimant?.owner.text,
        ])
        return .leased(lease)
    }

    private static func end(
        _ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp, _ db: Database
    ) throws -> Bool {
        try db.cachedStatement(sql: endLease).execute(arguments: [lease.kind.rawValue, lease.id, lease.token])
        guard db.changesCount > 0 else { return false }
        switch change {
        case .keep: break
        case .remove:
            let sql = lease.kind == .installation ? removeInstallation : removeRegistration
            try db.cachedStatement(sql: sql).execute(arguments: [lease.id])
        case .saveInstallation(let installation, let handles):
            let newHandleAt = try newHandleAt(.installation, installation.id, handles, now: now, db)
            try SQLiteWrite.save(installation, newHandleAt: newHandleAt, db)
        case .saveRegistration(let registration, let handles):
            let newHandleAt = try newHandleAt(.registration, registration.id, handles, now: now, db)
            try SQLiteWrite.save(registration, newHandleAt: newHandleAt, db)
        }
        return true
    }

    private static func isMet(_ condition: DeviceLease.Condition, by known: KnownDevice?) -> Bool {
        switch condition {
        case .owned(let user): known?.owner == user
        case .claimed(let installation, let handles):
            known.map { $0.owner == installation.owner || $0.hasOne(of: handles) } ?? true
        case .holding(let handles): known?.hasOne(of: handles) ?? false
        case .absent, .new: known == nil
        case .any: true
        }
    }

    /// The number of the user's devices, including those that the user is claiming now.
    private static func count(
        of owner: UserName, besides device: (kind: DeviceLease.Kind, id: String), handles: [String], _ db: Database
    ) throws -> Int {
        let found = try String?.fetchAll(
            db.cachedStatement(sql: handlesOfOwner), arguments: [owner.text, owner.text])
        let own = found.filter { handle in
            handle.map { handle in !handles.contains { $0.utf8.elementsEqual(handle.utf8) } } ?? true
        }
        let claims = try Int.fetchOne(
            db.cachedStatement(sql: claimsOfOwner),
            arguments: [owner.text, device.kind.rawValue, device.id, owner.text, owner.text])
        return own.count + (claims ?? 0)
    }

    /// When to ask the hub about a handle; `nil` if that was done while another device that is still stored had it.
    private static func newHandleAt(
        _ kind: DeviceLease.Kind, _ id: String, _ handles: [String], now: Timestamp, _ db: Database
    ) throws -> Int64? {
        if handles.isEmpty { return nil }
        var due = now.milliseconds
        for handle in handles {
            for row in try Row.fetchAll(db.cachedStatement(sql: holders), arguments: [handle, handle]) {
                guard let waiting: Int64 = row[2] else { return nil }
                let holder: String = row[1]
                if row[0] == kind.rawValue, holder.equalsIgnoringASCIICase(id) { due = waiting }
            }
        }
        return due
    }

    private static func leaseNewHandle(now: Timestamp, until: Timestamp, _ db: Database) throws -> String? {
        for (find, postpone) in [
            (newInstallationHandle, postponeInstallation), (newRegistrationHandle, postponeRegistration),
        ] {
            let found = try Row.fetchOne(db.cachedStatement(sql: find), arguments: [now.milliseconds])
            guard let found else { continue }
            let id: String = found[0]
            try db.cachedStatement(sql: postpone).execute(arguments: [until.milliseconds, id])
            return found[1]
        }
        return nil
    }
}

extension DeviceLease.Condition {
    /// The user who gets one device more if the store does not know the device as this user's, and the handles of
    /// devices that are about to be replaced.
    fileprivate var claimant: (owner: UserName, handles: [String])? {
        switch self {
        case .claimed(let installation, let handles): (installation.owner, handles)
        case .new(let user): (user, [])
        case .owned, .holding, .absent, .any: nil
        }
    }
}

/// The columns of a device that decide whether it may be changed.
private struct KnownDevice {
    var id: String
    var owner: UserName
    var handle: String?

    static func fetch(_ kind: DeviceLease.Kind, _ id: String, _ db: Database) throws -> KnownDevice? {
        let sql =
            kind == .installation ? SQLiteDeviceChange.knownInstallation : SQLiteDeviceChange.knownRegistration
        guard let row = try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [id]) else { return nil }
        return KnownDevice(id: row[0], owner: try row.userName(1, column: "owner"), handle: row[2])
    }

    func hasOne(of handles: [String]) -> Bool {
        guard let handle else { return false }
        return handles.contains { $0.utf8.elementsEqual(handle.utf8) }
    }
}

extension SQLiteDeviceChange {
    static let knownInstallation = "SELECT id, owner, handle FROM installations WHERE id = ? COLLATE NOCASE"
    static let knownRegistration = "SELECT id, owner, handle FROM registrations WHERE id = ? COLLATE NOCASE"
    static let removeInstallation = "DELETE FROM installations WHERE id = ? COLLATE NOCASE"
    static let removeRegistration = "DELETE FROM registrations WHERE id = ? COLLATE NOCASE"
    static let leaseEnd = "SELECT until FROM device_leases WHERE kind = ? AND id = ?"
    static let expired = "SELECT kind, id FROM device_leases WHERE until <= ? ORDER BY until LIMIT ?"
    static let endLease = "DELETE FROM device_leases WHERE kind = ? AND id = ? AND token = ?"
    static let expireLease = "UPDATE device_leases SET until = ? WHERE kind = ? AND id = ? AND token = ?"
    static let takeLease = """
        INSERT INTO device_leases (kind, id, token, until, claimant) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (kind, id) DO UPDATE SET id = excluded.id, token = excluded.token, until = excluded.until,
            claimant = excluded.claimant
        """

    /// Read in full: a user has at most ``Installation/maxPerUser``, or as many as earlier versions allowed.
    /// A registration without a platform has no device yet, and so no handle that another device could take over.
    static let handlesOfOwner = """
        SELECT handle FROM installations WHERE owner = ?
        UNION ALL SELECT CASE WHEN platform IS NOT NULL THEN handle END FROM registrations WHERE owner = ?
        """
    static let claimsOfOwner = """
        SELECT count(*) FROM device_leases AS lease WHERE claimant = ? AND NOT (kind = ? AND id = ?)
            AND NOT EXISTS (
                SELECT 1 FROM installations AS i
                WHERE lease.kind = 0 AND i.id = lease.id COLLATE NOCASE AND i.owner = ?)
            AND NOT EXISTS (
                SELECT 1 FROM registrations AS r
                WHERE lease.kind = 1 AND r.id = lease.id COLLATE NOCASE AND r.owner = ?)
        """

    static let holders = """
        SELECT 0, id, new_handle_at FROM installations WHERE handle = ?
        UNION ALL SELECT 1, id, new_handle_at FROM registrations WHERE handle = ?
        """

    static let newInstallationHandle = newHandle("installations")
    static let newRegistrationHandle = newHandle("registrations")
    static let postponeInstallation = "UPDATE installations SET new_handle_at = ? WHERE id = ?"
    static let postponeRegistration = "UPDATE registrations SET new_handle_at = ? WHERE id = ?"
    static let settleInstallations =
        "UPDATE installations SET new_handle_at = NULL WHERE handle = ? AND new_handle_at IS NOT NULL"
    static let settleRegistrations =
        "UPDATE registrations SET new_handle_at = NULL WHERE handle = ? AND new_handle_at IS NOT NULL"

    private static func newHandle(_ table: String) -> String {
        "SELECT id, handle FROM \(table) WHERE new_handle_at <= ? ORDER BY new_handle_at LIMIT 1"
    }

    static let statements = [
        knownInstallation, knownRegistration, removeInstallation, removeRegistration, leaseEnd, expired, endLease,
        expireLease, takeLease, handlesOfOwner, claimsOfOwner, holders, newInstallationHandle, newRegistrationHandle,
        postponeInstallation, postponeRegistration, settleInstallations, settleRegistrations,
        SQLiteWrite.updateInstallation, SQLiteWrite.insertInstallation, SQLiteWrite.updateRegistration,
        SQLiteWrite.insertRegistration, saveEncryptionKey, leaseIsHeld, removePlaces, savePlace,
    ]
}

extension SQLiteWrite {
    /// Inserts or replaces a registration; an existing ID keeps its spelling.
    ///
    /// - Parameter newHandleAt: when to ask the hub about the handle; `nil` if that was done.
    static func save(_ registration: Registration, newHandleAt: Int64?, _ db: Database) throws {
        let arguments: StatementArguments = [
            registration.owner.text, registration.platform?.rawValue, registration.handle,
            registration.updatedAt.milliseconds, StorageCoding.encode(tags: registration.tags), newHandleAt,
            registration.id,
        ]
        try db.cachedStatement(sql: updateRegistration).execute(arguments: arguments)
        if db.changesCount == 0 { try db.cachedStatement(sql: insertRegistration).execute(arguments: arguments) }
    }

    static let updateRegistration = """
        UPDATE registrations SET owner = ?, platform = ?, handle = ?, updated_at = ?, tags = ?, new_handle_at = ?
        WHERE id = ? COLLATE NOCASE
        """

    static let insertRegistration = """
        INSERT INTO registrations (owner, platform, handle, updated_at, tags, new_handle_at, id)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    /// Inserts or replaces an installation; an existing ID keeps its spelling.
    ///
    /// - Parameter newHandleAt: when to ask the hub about the handle; `nil` if that was done.
    static func save(_ installation: Installation, newHandleAt: Int64?, _ db: Database) throws {
        let (owner, document) = (installation.owner.text, Data(installation.document))
        let updatedAt = installation.updatedAt.milliseconds
        let key: StatementArguments = [owner, installation.platform.rawValue, installation.handle]
        let rest: StatementArguments = [
            document, newHandleAt, installation.lastSeenAt.milliseconds, installation.expiresAt?.milliseconds,
            installation.id,
        ]
        try db.cachedStatement(sql: updateInstallation)
            .execute(arguments: key + [owner, document, updatedAt] + rest)
        guard db.changesCount == 0 else { return }
        try db.cachedStatement(sql: insertInstallation).execute(arguments: key + [updatedAt] + rest)
    }

    /// `updated_at` stays if only the times of the device are different.
    static let updateInstallation = """
        UPDATE installations SET owner = ?, platform = ?, handle = ?,
            updated_at = CASE WHEN owner = ? AND document = ? THEN updated_at ELSE ? END,
            document = ?, new_handle_at = ?, last_seen_at = ?, expires_at = ?
        WHERE id = ? COLLATE NOCASE
        """

    static let insertInstallation = """
        INSERT INTO installations (
            owner, platform, handle, updated_at, document, new_handle_at, last_seen_at, expires_at, id
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
}
