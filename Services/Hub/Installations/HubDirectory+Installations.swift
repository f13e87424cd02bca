import Domain
import Foundations
import Storage

/// The effect of a change of an installation on its registrations.
struct InstallationChange: Sendable {
    let id: String
    let platform: NotificationFormat
    /// The registrations before the change, which may have had other handles.
    let former: [RegistrationEntry]
    let stored: [RegistrationEntry]
    let removed: [RegistrationEntry]

    fileprivate init(_ installation: HubInstallation, _ change: HubInstallationChange) {
        (id, platform) = (installation.id, installation.platform)
        former = change.former.compactMap(RegistrationEntry.init)
        stored = change.stored.compactMap(RegistrationEntry.init)
        removed = change.removed.compactMap(RegistrationEntry.init)
    }
}

extension HubDirectory {
    /// `nil` if there is none.
    ///
    /// - Throws: ``StorageError``.
    func installation(_ id: String, hub hubKey: String) async throws -> HubInstallation? {
        try await tables.installation(id, hub: hubKey).flatMap(HubInstallation.init)
    }

    /// Changes an installation and its registrations in one step.
    ///
    /// - Parameter change: gets the installation, `nil` if there is none; may be called again.
    /// - Throws: ``StorageError``, or what `change` throws.
    func changeInstallation(
        _ id: String, hub hubKey: String,
        _ change: @escaping @Sendable (HubInstallation?) throws(HubError) -> HubInstallation
    ) async throws -> InstallationChange {
        let now = Timestamp.now
        let (effect, installation) = try await tables.changeInstallation(id, hub: hubKey, now: now) { row in
            let installation = try change(row.flatMap(HubInstallation.init))
            return (installation.row(at: now), installation.registrations(at: now), installation)
        }
        return InstallationChange(installation, effect)
    }

    /// - Returns: nil when there was no such installation.
    /// - Throws: ``StorageError``.
    func removeInstallation(_ id: String, hub hubKey: String) async throws -> InstallationChange? {
        guard let (row, effect) = try await tables.removeInstallation(id, hub: hubKey) else { return nil }
        return HubInstallation(row).map { InstallationChange($0, effect) }
    }
}

extension HubInstallation {
    /// Reads the stored document; `nil` if it is damaged.
    init?(_ row: HubInstallationRow) {
        guard let object = try? JSONValue(row.document), let id = object["installationId"]?.text,
            let installation = try? HubInstallation(id: id, object: object)
        else { return nil }
        self = installation
    }

    func row(at time: Timestamp) -> HubInstallationRow {
        HubInstallationRow(document: Array(json.json.utf8), updatedAt: time, expiresAt: expiresAt)
    }

    /// Its parts, with new IDs.
    func registrations(at time: Timestamp) -> [HubRegistrationRow] {
        parts.map { part in
            var stored = registration(part, id: RegistrationID.make(), at: time).stored
            stored.slot = part.slot
            stored.expiresAt = expiresAt
            return stored
        }
    }
}
