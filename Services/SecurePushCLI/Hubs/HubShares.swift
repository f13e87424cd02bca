import Domain

extension Store {
    /// The hubs at which the devices of a page may be.
    func placed(_ page: [StoredDevice]) async throws -> [(device: StoredDevice, places: [DevicePlace])] {
        guard let kind = page.first?.reference.kind else { return [] }
        let places = try await places(of: kind, page.map(\.reference.id))
        return page.map { (device: $0, places: places[DeviceID.folded($0.reference.id)] ?? []) }
    }
}

extension HubTable {
    /// Whether a device's hub does not have the device as it is stored.
    func needsCopy(_ device: StoredDevice, _ places: [DevicePlace]) -> Bool {
        guard !device.isIncomplete else { return false }
        return !places.contains(DevicePlace(hub: member(for: device.owner).name, content: device.fingerprint))
    }

    /// The same, or whether another hub of the pool may have it.
    func needsMove(_ device: StoredDevice, _ places: [DevicePlace]) -> Bool {
        guard !device.isIncomplete else { return false }
        let name = member(for: device.owner).name
        return needsCopy(device, places)
            || places.contains { $0.hub != name && member(named: $0.hub) != nil }
    }
}

struct HubShares: Sendable {
    struct Row: Encodable, Sendable, Equatable {
        var hub: String
        /// `nil` if the hub is not in the file.
        var endpoint: String?
        var users = 0
        /// Of the users, in percent with one decimal.
        var sharePercent = 0.0
        var devices = 0
        var toMove = 0
        var atHub = 0
    }

    private let table: HubTable<Void>
    private var byHub: [String: Row] = [:]
    /// Hashes instead of names: there may be millions.
    private var users: Set<Int> = []

    init(_ table: HubTable<Void>) {
        self.table = table
        for member in table.members { byHub[member.name] = Row(hub: member.label, endpoint: member.endpoint) }
    }

    mutating func count(_ device: StoredDevice, _ places: [DevicePlace]) {
        if device.isIncomplete { return }
        let hub = table.member(for: device.owner).name
        byHub[hub]?.devices += 1
        if table.needsMove(device, places) { byHub[hub]?.toMove += 1 }
        if users.insert(device.owner.hashValue).inserted { byHub[hub]?.users += 1 }
        for place in places { byHub[place.hub, default: Row(hub: place.hub)].atHub += 1 }
    }

    /// The hubs of the file by name, then the others.
    var rows: [Row] {
        byHub.values
            .map { row in
                var row = row
                let share = users.isEmpty ? 0 : Double(row.users) * 1000 / Double(users.count)
                row.sharePercent = share.rounded() / 10
                return row
            }
            .sorted { ($0.endpoint == nil ? 1 : 0, $0.hub) < ($1.endpoint == nil ? 1 : 0, $1.hub) }
    }

    static var columns: [Column<Row>] {
        [
            Column("HUB") { $0.hub + ($0.endpoint == nil ? " (not in the file)" : "") },
            Column("USERS", isNumber: true) { $0.users.grouped },
            Column("SHARE", isNumber: true) { "\($0.sharePercent) %" },
            Column("DEVICES", isNumber: true) { $0.devices.grouped },
            Column("TO MOVE", isNumber: true) { $0.toMove.grouped },
            Column("AT THE HUB", isNumber: true) { $0.atHub.grouped },
        ]
    }
}
