import Domain
import Foundations

/// Decision: docs/decisions/0018-a-device-changes-under-a-lease.md
extension SQLStore {
    /// Locks the claimant's name first, so that of two claims the second one counts the device of the first one, and
    /// then the device. Each statement sees everything that was committed before it began, so after the locks the
    /// latest state. A caller that is cancelled from here on has the lease, and gives it back.
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome {
        try Task.checkCancellation()
        let claimant = condition.claimant
        return try await write(bytes: 512 + condition.documentBytes) { db in
            try db.lock((claimant.map { ["owner \($0.owner.text)"] } ?? []) + [kind.lock(id)])
            let known = try db.known(kind, id)
            guard condition.isMet(by: known) else { return .refused }
            let held: Timestamp? = try db.first(
                "SELECT until FROM device_leases WHERE kind = \(kind) AND key = \(DeviceID.folded(id))")
            if let held, held > now { return .busy }
            var lease = DeviceLease(
                kind: kind, id: known?.id ?? id, token: .random(in: .min ... .max), isInDoubt: held != nil)
            var changes: [SQL] = []
            if let claimant, known?.owner != claimant.owner {
                let count = try db.deviceCount(of: claimant.owner, besides: lease, claimant.handles)
                if count >= Installation.maxPerUser { return .tooMany }
                if known == nil, case .claimed(let installation, let handles) = condition {
                    lease.isNew = true
                    changes.append(.save(installation, newHandleAt: try db.newHandleAt(lease, handles, now: now)))
                }
            }
            changes.append(
                """
                INSERT INTO device_leases (kind, key, id, token, until, claimant) VALUES (
                    \(kind), \(DeviceID.folded(id)), \(lease.id), \(lease.token), \(now + DeviceLease.duration),
                    \(claimant?.owner))
                ON CONFLICT (kind, key) DO UPDATE SET id = excluded.id, token = excluded.token,
                    until = excluded.until, claimant = excluded.claimant
                """)
            try db.run(each: changes)
            return .leased(lease)
        }
    }

    func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool {
        try await write(bytes: 512 + change.documentBytes) { db in
            try db.lock([lease.kind.lock(lease.id)])
            guard try db.run("DELETE FROM device_leases WHERE \(.row(of: lease))") > 0 else { return false }
            switch change {
            case .keep: break
            case .remove:
                try db.run(each: [
                    "DELETE FROM \(raw: lease.kind.table) WHERE lower(id) = \(DeviceID.folded(lease.id))"
                ])
            case .saveInstallation(let installation, let handles):
                try db.run(each: [.save(installation, newHandleAt: db.newHandleAt(lease, handles, now: now))])
            case .saveRegistration(let registration, let handles):
                try db.run(each: [.save(registration, newHandleAt: db.newHandleAt(lease, handles, now: now))])
            }
            return true
        }
    }

    func expire(_ lease: DeviceLease, now: Timestamp) async throws {
        try await run("UPDATE device_leases SET until = \(now) WHERE \(.row(of: lease))")
    }

    func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired] {
        try await all(
            "SELECT kind, id FROM device_leases WHERE until <= \(now) ORDER BY until LIMIT \(max(limit, 0))"
        ) { row in DeviceLease.Expired(kind: try row(), id: try row()) }
    }
}

extension DeviceLease.Kind {
    var table: String {
        switch self {
        case .installation: "installations"
        case .registration: "registrations"
        }
    }

    /// The name of a device's lock.
    fileprivate func lock(_ id: String) -> String { "\(table) \(DeviceID.folded(id))" }
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

    fileprivate var documentBytes: Int {
        if case .claimed(let installation, _) = self { installation.document.count } else { 0 }
    }

    fileprivate func isMet(by known: KnownDevice?) -> Bool {
        switch self {
        case .owned(let user): known?.owner == user
        case .claimed(let installation, let handles):
            known.map { $0.owner == installation.owner || $0.hasOne(of: handles) } ?? true
        case .holding(let handles): known?.hasOne(of: handles) ?? false
        case .absent, .new: known == nil
        case .any: true
        }
    }
}

extension DeviceLease.Change {
    fileprivate var documentBytes: Int {
        if case .saveInstallation(let installation, _) = self { installation.document.count } else { 0 }
    }
}

/// The columns of a device that decide whether it may be changed.
private struct KnownDevice {
    var id: String
    var owner: UserName
    var handle: String?

    func hasOne(of handles: [String]) -> Bool {
        guard let handle else { return false }
        return handles.contains { $0.utf8.elementsEqual(handle.utf8) }
    }
}

extension SQLTransaction {
    fileprivate func known(_ kind: DeviceLease.Kind, _ id: String) throws -> KnownDevice? {
        try first(
            "SELECT id, owner, handle FROM \(raw: kind.table) WHERE lower(id) = \(DeviceID.folded(id))"
        ) { row in KnownDevice(id: try row(), owner: try row(), handle: try row()) }
    }

    /// The number of the user's devices: those that are stored, except for those with one of the handles, and those
    /// that the user is claiming now. A registration without a platform has no device yet, and so none to be replaced.
    fileprivate func deviceCount(of owner: UserName, besides device: DeviceLease, _ handles: [String]) throws -> Int {
        try first(
            """
            SELECT (SELECT count(*) FROM installations WHERE owner = \(owner) AND handle \(notIn: handles))
                + (SELECT count(*) FROM registrations
                    WHERE owner = \(owner) AND (platform IS NULL OR handle IS NULL OR handle \(notIn: handles)))
                + (SELECT count(*) FROM device_leases AS lease
                    WHERE claimant = \(owner) AND NOT (kind = \(device.kind) AND key = \(DeviceID.folded(device.id)))
                        AND NOT EXISTS (
                            SELECT 1 FROM installations AS i
                            WHERE lease.kind = 0 AND lower(i.id) = lease.key AND i.owner = \(owner))
                        AND NOT EXISTS (
                            SELECT 1 FROM registrations AS r
                            WHERE lease.kind = 1 AND lower(r.id) = lease.key AND r.owner = \(owner)))
            """) ?? 0
    }
}

extension SQL {
    /// The row of a lease, if nobody has taken it since.
    static func row(of lease: DeviceLease) -> SQL {
        "kind = \(lease.kind) AND key = \(DeviceID.folded(lease.id)) AND token = \(lease.token)"
    }

    /// Inserts or replaces an installation. An existing ID keeps its spelling, and `updated_at` stays if only the times
    /// of the device are different. The key for end-to-end encryption belongs to the owner: another user who takes the
    /// device over does not inherit it.
    ///
    /// - Parameter newHandleAt: when to ask the hub about the handle; `nil` if that was done.
    fileprivate static func save(_ installation: Installation, newHandleAt: Timestamp?) -> SQL {
        """
        INSERT INTO installations AS known (
            id, owner, platform, handle, document, updated_at, new_handle_at, last_seen_at, expires_at
        ) VALUES (
            \(installation.id), \(installation.owner), \(installation.platform), \(installation.handle),
            \(installation.document), \(installation.updatedAt), \(newHandleAt), \(installation.lastSeenAt),
            \(installation.expiresAt))
        ON CONFLICT (lower(id)) DO UPDATE SET owner = excluded.owner, platform = excluded.platform,
            handle = excluded.handle, document = excluded.document, new_handle_at = excluded.new_handle_at,
            updated_at = CASE WHEN known.owner = excluded.owner AND known.document = excluded.document
                THEN known.updated_at ELSE excluded.updated_at END,
            last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at,
            encryption_key = CASE WHEN known.owner = excluded.owner THEN known.encryption_key END,
            encryption_key_at = CASE WHEN known.owner = excluded.owner THEN known.encryption_key_at END,
            key_notice_at = CASE WHEN known.owner = excluded.owner THEN known.key_notice_at END
        """
    }

    fileprivate static func save(_ registration: Registration, newHandleAt: Timestamp?) -> SQL {
        """
        INSERT INTO registrations (id, owner, platform, handle, tags, updated_at, new_handle_at) VALUES (
            \(registration.id), \(registration.owner), \(registration.platform), \(registration.handle),
            \(StorageCoding.encode(tags: registration.tags)), \(registration.updatedAt), \(newHandleAt))
        ON CONFLICT (lower(id)) DO UPDATE SET owner = excluded.owner, platform = excluded.platform,
            handle = excluded.handle, tags = excluded.tags, updated_at = excluded.updated_at,
            new_handle_at = excluded.new_handle_at
        """
    }
}
