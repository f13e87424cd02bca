import Domain
package import Foundations

extension HubTables {
    /// Creates or updates a registration. An update increments the version, and keeps the place in lists.
    ///
    /// - Parameter registration: its place and version are ignored.
    package func put(
        _ registration: HubRegistrationRow, hub: String, condition: HubCondition
    ) async throws -> HubChange {
        try await store.write(bytes: registration.heldBytes) { db in
            var registration = registration
            try db.lockRegistration(registration.id, hub: hub)
            let former = try db.registration(registration.id, hub: hub)
            if let former {
                guard condition.allows(former.version) else { return .conflict }
                // It stays a part of its installation.
                (registration.installationID, registration.slot) = (former.installationID, former.slot)
            } else {
                guard condition == .none else { return .unknown }
                if try db.isRetired(registration.id, hub: hub) { return .retired }
            }
            return .done(try db.store(registration, hub: hub, former: former), former: former)
        }
    }

    package func registration(_ id: String, hub: String) async throws -> HubRegistrationRow? {
        try await store.first(.registrations(hub: hub, id: id)) { try HubRegistrationRow(&$0) }
    }

    /// Removes a registration. Its ID is not accepted again, until ``maxRetiredIDs`` others were deleted after it.
    package func removeRegistration(_ id: String, hub: String, condition: HubCondition) async throws -> HubChange {
        try await store.write { [maxRetiredIDs] db in
            try db.lockRegistration(id, hub: hub)
            guard let former = try db.registration(id, hub: hub) else { return .unknown }
            guard condition.allows(former.version) else { return .conflict }
            try db.remove([former], hub: hub)
            try db.retire(id, hub: hub, keeping: maxRetiredIDs)
            return .done(former, former: former)
        }
    }

    /// Removes all registrations of a handle that a push service no longer accepts, and the installations that have it
    /// as their own channel, with all their registrations.
    ///
    /// - Parameter time: registrations and installations that were written at this time or later stay.
    /// - Returns: the registrations that were removed.
    package func remove(
        handle: String, hub: String, ifUpdatedBefore time: Timestamp
    ) async throws -> [HubRegistrationRow] {
        try await store.write { db in try db.remove(handle: handle, hub: hub, before: time) }
    }

    /// Stores the keys with which the push services of devices have accepted pushes.
    package func remember(_ keys: [HubPushKey]) async throws {
        let byHub = Dictionary(grouping: keys, by: \.hub).sorted { $0.key < $1.key }
        try await store.write(weight: keys.count) { db in
            for (hub, keys) in byHub {
                // The newest key of a handle is stored.
                let newest = Dictionary(keys.map { ($0.handle, $0.key) }) { $1 }
                let found = try db.all(
                    "SELECT r.sequence, r.handle \(.ofHandles(newest.keys, hub: hub)) \(.lockRegistrations)"
                ) { row in (place: try row() as Int64, handle: try row() as String) }
                try db.run(
                    each: found.map { place, handle in
                        let key = newest[handle] ?? nil
                        return "UPDATE hub_registrations SET push_key = \(key) WHERE sequence = \(place)"
                    })
            }
        }
    }

    /// The registrations with one of these handles, exactly as given, in the order of their places.
    package func registrations(handles: [String], hub: String) async throws -> [HubRegistrationRow] {
        try await store.all(.registrations(handles: handles, hub: hub)) { try HubRegistrationRow(&$0) }
            .sorted { $0.sequence < $1.sequence }
    }
}

extension SQLTransaction {
    /// Changes of one registration take turns, also while it does not exist.
    func lockRegistration(_ id: String, hub: String) throws { try lock(["hub registration \(hub) \(id.lowercased())"]) }

    func registration(_ id: String, hub: String) throws -> HubRegistrationRow? {
        try first(.registrations(hub: hub, id: id) + " \(.forUpdate)") { try HubRegistrationRow(&$0) }
    }

    /// See ``HubTables/remove(handle:hub:ifUpdatedBefore:)``.
    func remove(handle: String, hub: String, before time: Timestamp) throws -> [HubRegistrationRow] {
        // Without locks, because the installations must be locked first.
        let found = try all(.registrations(handles: [handle], hub: hub)) { try HubRegistrationRow(&$0) }
            .filter { $0.updatedAt < time }
        let installations = found.filter { $0.slot?.isEmpty == true }.compactMap(\.installationID)
        return try removeInstallations(
            Set(installations), hub: hub, before: time, and: found.map(\.sequence)
        ) { $0.handle == handle && $0.updatedAt < time }
    }

    func isRetired(_ id: String, hub: String) throws -> Bool {
        try exists("SELECT 1 FROM hub_retired_ids WHERE hub = \(hub) AND id = \(id.lowercased())")
    }

    /// Writes a registration in place of its former version.
    ///
    /// - Returns: it as stored.
    func store(_ new: HubRegistrationRow, hub: String, former: HubRegistrationRow?) throws -> HubRegistrationRow {
        var stored = new
        let tags = new.tags.joined(separator: ",")
        guard let former else {
            stored.version = 1
            stored.sequence =
                try first(
                    """
                    INSERT INTO hub_registrations (
                        hub, id, version, format, is_template, tags, handle, installation_id, slot, updated_at,
                        expires_at, document
                    ) VALUES (
                        \(hub), \(new.id), 1, \(new.format), \(new.isTemplate), \(tags), \(new.handle),
                        \(new.installationID), \(new.slot), \(new.updatedAt), \(new.expiresAt), \(new.document)
                    ) RETURNING sequence
                    """) ?? 0
            try run(each: [.insert(stored.tagKeys(hub: hub), of: stored.sequence)])
            return stored
        }
        stored.version = former.version + 1
        stored.sequence = former.sequence
        stored.pushKey = former.pushKey
        let (before, now) = (Set(former.tagKeys(hub: hub)), Set(stored.tagKeys(hub: hub)))
        var statements: [SQL] = [
            """
            UPDATE hub_registrations SET id = \(new.id), version = \(stored.version), format = \(new.format),
                is_template = \(new.isTemplate), tags = \(tags), handle = \(new.handle),
                installation_id = \(new.installationID), slot = \(new.slot), updated_at = \(new.updatedAt),
                expires_at = \(new.expiresAt), document = \(new.document)
            WHERE sequence = \(former.sequence)
            """
        ]
        if before != now {
            statements += [.delete(before.subtracting(now), of: former.sequence)]
            statements += [.insert(now.subtracting(before), of: former.sequence)]
        }
        try run(each: statements)
        return stored
    }

    func remove(_ registrations: [HubRegistrationRow], hub: String) throws {
        if registrations.isEmpty { return }
        try run(
            each: registrations.map { .delete($0.tagKeys(hub: hub), of: $0.sequence) }
                + ["DELETE FROM hub_registrations WHERE sequence \(in: registrations.map(\.sequence))"])
    }

    /// Notes an ID as one that is not accepted again.
    fileprivate func retire(_ id: String, hub: String, keeping count: Int) throws {
        let sequence: Int64? = try first(
            """
            INSERT INTO hub_retired_ids (hub, id) VALUES (\(hub), \(id.lowercased()))
            ON CONFLICT (hub, id) DO NOTHING RETURNING sequence
            """)
        guard let sequence else { return }
        try run("DELETE FROM hub_retired_ids WHERE sequence <= \(sequence - Int64(count))")
    }
}

extension SQL {
    static let registrationColumns: SQL = """
        r.sequence, r.id, r.version, r.format, r.is_template, r.tags, r.handle, r.installation_id, r.slot,
        r.updated_at, r.expires_at, r.document, r.push_key
        """

    fileprivate static func registrations(hub: String, id: String) -> SQL {
        """
        SELECT \(registrationColumns) FROM hub_registrations AS r
        WHERE r.hub = \(hub) AND lower(r.id) = \(id.lowercased())
        """
    }

    /// The hub is compared as an expression: with little known of the tables, PostgreSQL would walk through all
    /// registrations of the hub instead of looking up the handles.
    fileprivate static func registrations(handles: [String], hub: String) -> SQL {
        "SELECT \(registrationColumns) \(ofHandles(Set(handles), hub: hub))"
    }

    fileprivate static func ofHandles(_ handles: some Sequence<String>, hub: String) -> SQL {
        """
        FROM \(table: handles, as: "asked") CROSS JOIN hub_registrations AS r
        WHERE r.handle = asked.value AND r.hub || '' = \(hub)
        """
    }

    fileprivate static func insert(_ keys: some Sequence<String>, of sequence: Int64) -> SQL {
        """
        INSERT INTO hub_tags (key, registration) SELECT added.value, \(sequence) FROM \(table: keys, as: "added")
        """
    }

    fileprivate static func delete(_ keys: some Sequence<String>, of sequence: Int64) -> SQL {
        "DELETE FROM hub_tags WHERE key \(in: keys) AND registration = \(sequence)"
    }
}

extension HubRegistrationRow {
    /// Reads ``SQL/registrationColumns``.
    init(_ row: inout SQLRow) throws {
        let (sequence, id, version): (Int64, String, Int64) = (try row(), try row(), try row())
        self.init(
            id: id, format: try row(), isTemplate: try row(),
            tags: try row.map { (text: String) in text.split(separator: ",").map(String.init) },
            handle: try row(), installationID: try row(), slot: try row(), updatedAt: try row(),
            expiresAt: try row(), document: try row())
        pushKey = try row()
        self.sequence = sequence
        self.version = version
    }

    /// The keys of its rows in `hub_tags`: one for each tag, and one without a tag.
    func tagKeys(hub: String) -> [String] {
        Set([""] + tags.map { $0.lowercased() }).map { HubFind.key(hub: hub, audience: audience, tag: $0) }
    }
}

extension SQLWord {
    /// Locks the registrations that a SELECT finds, in the order of their places. SQLite has one writer.
    static let lockRegistrations = SQLWord(postgres: "ORDER BY r.sequence FOR UPDATE OF r", sqlite: "")
}
