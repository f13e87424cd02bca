import Domain
import Foundations

/// One transaction of an import: the hub's entries for the devices of a batch, and the rows to write.
struct HubImportStep {
    private(set) var counts = HubImportCounts()
    /// See ``HubImportResult/refused``.
    private(set) var refused: [String] = []

    private let db: any SQLTransaction
    private let hub: String
    private let exportedAt: Timestamp
    /// The registrations that have one of the batch's IDs, by the ID in lower case.
    private let known: [String: HubRegistrationRow]
    private let retired: Set<String>
    /// The handles of registrations that are newer than the file.
    private let newerHandles: Set<String>
    private let installations: [String: HubInstallationRow]
    private let parts: [String: [HubRegistrationRow]]

    private var fresh: [HubRegistrationRow] = []
    private var freshIDs: Set<String> = []
    private var documents: [(id: String, row: HubInstallationRow)] = []

    init(_ batch: HubImportBatch, hub: String, _ db: any SQLTransaction) throws {
        (self.db, self.hub, exportedAt) = (db, hub, batch.start.exportedAt)
        let own = Set(batch.registrations.map { $0.id.lowercased() })
        let ids = own.union(batch.installations.flatMap(\.ids.values).map { $0.lowercased() })
        let names = Set(batch.installations.map(\.id))
        retired = Set(
            try db.all(.retired(own, hub: hub)) { row in (try row() as String, try row() as Int64?) }
                .filter { $0.1 != nil }.map(\.0))
        let handles = Set(batch.registrations.map(\.handle)).union(batch.installations.flatMap(\.handles))
        newerHandles = Set(try db.all(.handles(among: handles, hub: hub, after: exportedAt)))
        let rows = try db.all(.installations(names, hub: hub)) { row -> (String, HubInstallationRow)? in
            let id: String = try row()
            guard let document: [UInt8] = try row(), let updatedAt: Timestamp = try row() else { return nil }
            return (id, HubInstallationRow(document: document, updatedAt: updatedAt, expiresAt: try row()))
        }
        installations = Dictionary(rows.compactMap(\.self)) { first, _ in first }
        let lists: [String?] =
            try db.all(.sequences("lower(k.id)", ids, hub: hub)) { row in try row() }
            + db.all(.sequences("k.installation_id", installations.keys, hub: hub)) { row in try row() }
        let places = Set(lists.compactMap(\.self).flatMap { $0.split(separator: ",").compactMap { Int64($0) } })
        let found = places.isEmpty ? [] : try db.all(.registrations(places)) { try HubRegistrationRow(&$0) }
        known = Dictionary(found.map { ($0.id.lowercased(), $0) }) { first, _ in first }
        parts = Dictionary(grouping: found) { $0.installationID ?? "" }
    }

    mutating func add(_ registration: HubRegistrationRow) throws {
        let id = registration.id.lowercased()
        if newerHandles.contains(registration.handle) {
            counts.newer += 1
        } else if retired.contains(id) {
            counts.deleted += 1
        } else if let former = known[id] {
            if former.updatedAt > exportedAt {
                counts.newer += 1
            } else if former.updatedAt == exportedAt {
                counts.unchanged += 1
            } else {
                var new = registration
                // It stays a part of its installation.
                (new.installationID, new.slot) = (former.installationID, former.slot)
                _ = try db.store(new, hub: hub, former: former)
                counts.imported += 1
            }
        } else if freshIDs.insert(id).inserted {
            fresh.append(registration)
            counts.imported += 1
        } else {
            counts.unchanged += 1
        }
    }

    mutating func add(_ installation: HubImportBatch.Installation) throws {
        let former = installations[installation.id]
        guard former.map({ $0.updatedAt <= exportedAt }) ?? true, newerHandles.isDisjoint(with: installation.handles)
        else {
            counts.newer += installation.lines
            return
        }
        let made: (row: HubInstallationRow, parts: [HubRegistrationRow])
        do {
            made = try installation.make(former?.updatedAt == exportedAt ? former : nil)
        } catch {
            refused.append(installation.id)
            counts.bad += installation.lines
            return
        }
        guard made.row != former else {
            counts.unchanged += installation.lines
            return
        }
        var rest = parts[installation.id] ?? []
        for var part in made.parts {
            part.installationID = installation.id
            if let index = rest.firstIndex(where: { $0.slot == part.slot }) {
                let former = rest.remove(at: index)
                part.id = former.id
                _ = try db.store(part, hub: hub, former: former)
            } else {
                if let id = part.slot.flatMap({ installation.ids[$0] }), known[id.lowercased()] == nil,
                    !freshIDs.contains(id.lowercased())
                {
                    part.id = id
                }
                freshIDs.insert(part.id.lowercased())
                fresh.append(part)
            }
        }
        try db.remove(rest, hub: hub)
        documents.append((installation.id, made.row))
        counts.imported += installation.lines
    }

    /// Writes the new rows, with one statement for each table.
    mutating func write() throws {
        if !documents.isEmpty { try db.run(.insert(documents, hub: hub)) }
        if fresh.isEmpty { return }
        let stored = try db.all(.insert(fresh, hub: hub)) { row in (try row() as Int64, try row() as String) }
        let sequences = Dictionary(stored.map { ($1, $0) }) { first, _ in first }
        // A client has just created the others.
        let lost = fresh.count { sequences[$0.id] == nil }
        counts.imported -= lost
        counts.newer += lost
        let tags = fresh.flatMap { registration in
            sequences[registration.id].map { place in registration.tagKeys(hub: hub).map { (key: $0, place: place) } }
                ?? []
        }
        // In the order of the index.
        try db.run(.insert(tags.sorted { ($0.key, $0.place) < ($1.key, $1.place) }))
    }
}
