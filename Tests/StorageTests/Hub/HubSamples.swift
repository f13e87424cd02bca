import Domain
import Foundations
import Storage

/// The stores that the tables of a hub run on.
let hubStores: [StoreKind] = [.memory, .sqlite, .postgres]

extension HubRegistrationRow {
    /// A registration of a phone; its handle is its ID in upper case.
    static func sample(
        _ id: String, tags: [String] = [], handle: String? = nil, format: String = "apple", isTemplate: Bool = false,
        updatedAt: Timestamp = noon, expiresAt: Timestamp? = nil, document: [UInt8] = []
    ) -> HubRegistrationRow {
        HubRegistrationRow(
            id: id, format: format, isTemplate: isTemplate, tags: tags, handle: handle ?? id.uppercased(),
            updatedAt: updatedAt, expiresAt: expiresAt, document: document)
    }

    /// A part of an installation.
    static func part(_ slot: String, handle: String = "H", updatedAt: Timestamp = noon) -> HubRegistrationRow {
        var part = sample("part-\(Int.random(in: 0...Int.max))", tags: ["all"], handle: handle, updatedAt: updatedAt)
        part.slot = slot
        return part
    }
}

extension HubTables {
    @discardableResult
    func put(
        _ registration: HubRegistrationRow, _ condition: HubCondition = .none, hub: String = "hub"
    ) async throws -> HubChange {
        try await put(registration, hub: hub, condition: condition)
    }

    /// The IDs of the registrations that a send to Apple's devices reaches, page by page.
    func ids(_ tagSets: [[String]] = [], hub: String = "hub", limit: Int = HubTables.pageSize) async throws -> [String]
    {
        var ids: [String] = []
        var after: Int64? = 0
        while let place = after {
            let page = try await targets(
                hub: hub, of: HubAudience(formats: ["apple"], tagSets: tagSets), after: place, limit: limit, now: noon)
            ids += page.registrations.map(\.id)
            after = page.next
        }
        return ids
    }

    /// Stores an installation with parts of these slots.
    @discardableResult
    func install(
        _ id: String, _ slots: [String], handle: String = "H", updatedAt: Timestamp = noon, expiresAt: Timestamp? = nil
    ) async throws -> HubInstallationChange {
        let row = HubInstallationRow(document: Array(id.utf8), updatedAt: updatedAt, expiresAt: expiresAt)
        return try await changeInstallation(id, hub: "hub", now: updatedAt) { _ in
            (row, slots.map { .part($0, handle: handle, updatedAt: updatedAt) }, ())
        }.0
    }
}
