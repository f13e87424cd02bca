import Domain
package import Foundations

/// An installation of a hub: its document, and when it expires.
package struct HubInstallationRow: Sendable, Hashable {
    package var document: [UInt8]
    package var updatedAt: Timestamp
    /// `nil`: never.
    package var expiresAt: Timestamp?

    package init(document: [UInt8], updatedAt: Timestamp, expiresAt: Timestamp?) {
        self.document = document
        self.updatedAt = updatedAt
        self.expiresAt = expiresAt
    }
}

/// The registrations of an installation before and after a change.
package struct HubInstallationChange: Sendable {
    package var former: [HubRegistrationRow] = []
    package var stored: [HubRegistrationRow] = []

    /// Those that are gone.
    package var removed: [HubRegistrationRow] {
        let kept = Set(stored.map(\.sequence))
        return former.filter { !kept.contains($0.sequence) }
    }
}

extension HubTables {
    /// `nil` if there is none, or if it has expired.
    package func installation(_ id: String, hub: String, now: Timestamp = .now) async throws -> HubInstallationRow? {
        try await store.first(.installation(id, hub: hub)) { try HubInstallationRow(&$0) }.flatMap { $0.ifValid(now) }
    }

    /// Changes an installation and its registrations, which keep their IDs and places as long as their slots are the
    /// same.
    ///
    /// - Parameter change: gets the installation, `nil` if there is none; returns it and its registrations as they are
    ///   to be, and a value for the caller. It may be called again. The registrations' IDs are for new ones.
    /// - Throws: ``StorageError``, or the error of `change`.
    package func changeInstallation<Value: Sendable>(
        _ id: String, hub: String, now: Timestamp = .now,
        _ change: @escaping @Sendable (HubInstallationRow?) throws -> (HubInstallationRow, [HubRegistrationRow], Value)
    ) async throws -> (HubInstallationChange, Value) {
        let id = id.lowercased()
        return try await store.write(weight: 2, bytes: 4096) { db in
            try db.lockInstallations([id], hub: hub)
            let row = try db.first(.installation(id, hub: hub) + " \(.forUpdate)") { try HubInstallationRow(&$0) }
            let (new, parts, value) = try change(row.flatMap { $0.ifValid(now) })
            var effect = HubInstallationChange(former: try db.registrations(ofInstallation: id, hub: hub))
            for var part in parts {
                let former = effect.former.first { $0.slot == part.slot }
                part.id = former?.id ?? part.id
                part.installationID = id
                effect.stored.append(try db.store(part, hub: hub, former: former))
            }
            try db.remove(effect.removed, hub: hub)
            try db.run(
                """
                INSERT INTO hub_installations (hub, id, document, updated_at, expires_at)
                VALUES (\(hub), \(id), \(new.document), \(new.updatedAt), \(new.expiresAt))
                ON CONFLICT (hub, id) DO UPDATE SET document = excluded.document, updated_at = excluded.updated_at,
                    expires_at = excluded.expires_at
                """)
            return (effect, value)
        }
    }

    /// Removes an installation and its registrations.
    ///
    /// - Returns: it, and the registrations as ``HubInstallationChange/former``; `nil` if there was no such
    ///   installation.
    package func removeInstallation(
        _ id: String, hub: String
    ) async throws -> (HubInstallationRow, HubInstallationChange)? {
        let id = id.lowercased()
        return try await store.write { db in
            try db.lockInstallations([id], hub: hub)
            let row = try db.first(.installation(id, hub: hub)) { try HubInstallationRow(&$0) }
            guard let row else { return nil }
            return (row, HubInstallationChange(former: try db.removeInstallations([id], hub: hub)))
        }
    }

    /// Removes installations that have expired, at most `limit`, with their registrations.
    ///
    /// - Returns: how many.
    package func removeExpired(limit: Int, now: Timestamp = .now) async throws -> Int {
        try await store.write(weight: limit) { db in
            let expired = try db.all(
                """
                SELECT hub, id FROM hub_installations WHERE expires_at < \(now) ORDER BY expires_at LIMIT \(limit)
                \(.skipLocked)
                """
            ) { row in (hub: try row() as String, id: try row() as String) }
            // They are locked already, and a transaction that waits for one of them has not locked a registration yet.
            for (hub, found) in Dictionary(grouping: expired, by: \.hub).sorted(by: { $0.key < $1.key }) {
                try db.delete(installations: found.map(\.id), hub: hub)
            }
            return expired.count
        }
    }
}

extension SQLTransaction {
    /// Changes of one installation take turns, also while it does not exist.
    ///
    /// - Parameter ids: in lower case, and sorted.
    fileprivate func lockInstallations(_ ids: [String], hub: String) throws {
        try lock(ids.map { .hubInstallation($0, hub: hub) })
    }

    /// - Parameter id: in lower case.
    fileprivate func registrations(ofInstallation id: String, hub: String) throws -> [HubRegistrationRow] {
        try all(
            """
            SELECT \(.registrationColumns) FROM hub_registrations AS r
            WHERE r.hub = \(hub) AND r.installation_id = \(id) \(.lockRegistrations)
            """
        ) { try HubRegistrationRow(&$0) }.sorted { $0.sequence < $1.sequence }
    }

    /// - Parameters:
    ///   - ids: in lower case.
    ///   - time: an installation that was written at this time or later stays.
    ///   - others: the places of further registrations, which are removed if `isMeant` is true when they are locked.
    /// - Returns: the registrations that were removed, in the order of their places.
    func removeInstallations(
        _ ids: Set<String>, hub: String, before time: Timestamp? = nil, and others: [Int64] = [],
        if isMeant: (HubRegistrationRow) -> Bool = { _ in true }
    ) throws -> [HubRegistrationRow] {
        var found: [String] = []
        if !ids.isEmpty {
            try lockInstallations(ids.sorted(), hub: hub)
            found = try all(
                """
                SELECT i.id FROM hub_installations AS i
                WHERE i.hub = \(hub) AND i.id \(in: ids) AND i.updated_at < \(time ?? Timestamp(milliseconds: .max))
                \(.lockInstallations)
                """)
        }
        return try delete(installations: found, hub: hub, and: others, if: isMeant)
    }

    /// Deletes installations that this transaction has locked; see
    /// ``removeInstallations(_:hub:before:and:if:)``.
    @discardableResult func delete(
        installations ids: [String], hub: String, and others: [Int64] = [],
        if isMeant: (HubRegistrationRow) -> Bool = { _ in true }
    ) throws -> [HubRegistrationRow] {
        let installations = Set(ids)
        var places = others
        if !ids.isEmpty {
            places += try all(
                """
                SELECT r.sequence FROM hub_registrations AS r
                WHERE r.hub = \(hub) AND r.installation_id \(in: ids)
                """)
        }
        if places.isEmpty && ids.isEmpty { return [] }
        // All at once, because of their order.
        let registrations = try all(
            """
            SELECT \(.registrationColumns) FROM hub_registrations AS r WHERE r.sequence \(in: places)
            \(.lockRegistrations)
            """
        ) { try HubRegistrationRow(&$0) }.filter { row in
            row.installationID.map(installations.contains) == true || isMeant(row)
        }
        if !ids.isEmpty { try run(each: ["DELETE FROM hub_installations WHERE hub = \(hub) AND id \(in: ids)"]) }
        try remove(registrations, hub: hub)
        return registrations.sorted { $0.sequence < $1.sequence }
    }
}

extension SQLWord {
    /// Locks the installations that a SELECT finds, in the order of their IDs. SQLite has one writer.
    static let lockInstallations = SQLWord(postgres: "ORDER BY i.id FOR UPDATE OF i", sqlite: "")
}

extension SQL {
    fileprivate static func installation(_ id: String, hub: String) -> SQL {
        """
        SELECT document, updated_at, expires_at FROM hub_installations WHERE hub = \(hub) AND id = \(id.lowercased())
        """
    }
}

extension String {
    /// The name that changes of an installation lock, also while it does not exist.
    ///
    /// - Parameter id: in lower case.
    static func hubInstallation(_ id: String, hub: String) -> String { "hub installation \(hub) \(id)" }
}

extension HubInstallationRow {
    init(_ row: inout SQLRow) throws {
        self.init(document: try row(), updatedAt: try row(), expiresAt: try row())
    }

    fileprivate func ifValid(_ now: Timestamp) -> HubInstallationRow? {
        expiresAt.map { $0 < now } == true ? nil : self
    }
}
