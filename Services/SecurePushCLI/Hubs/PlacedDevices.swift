import SecurePushCore

/// Reads all devices of the database with the hubs at which they may be, page by page.
struct PlacedDevices: Sendable {
    typealias Source = DeviceStore
    typealias Page = [(device: StoredDevice, places: [DevicePlace])]

    let store: any Source

    /// Rows per statement.
    private static let pageSize = 500

    /// - Parameter body: returns false to end early.
    func forEachPage(while body: (Page) async throws -> Bool) async throws {
        for kind in DeviceLease.Kind.allCases {
            var after: String?
            while true {
                let devices = try await page(of: kind, after: after)
                if devices.isEmpty { break }
                let places = try await store.places(of: kind, devices.map(\.id))
                let page = devices.map { (device: $0, places: places[DeviceID.folded($0.id)] ?? []) }
                guard try await body(page) else { return }
                guard devices.count == Self.pageSize else { break }
                after = devices.last?.id
            }
        }
    }

    func forEachPage(_ body: (Page) -> Void) async throws {
        try await forEachPage(while: { page in
            body(page)
            return true
        })
    }

    private func page(of kind: DeviceLease.Kind, after id: String?) async throws -> [StoredDevice] {
        switch kind {
        case .installation:
            try await store.installations(after: id, limit: Self.pageSize).map(StoredDevice.installation)
        case .registration:
            try await store.registrations(after: id, limit: Self.pageSize).map(StoredDevice.registration)
        }
    }
}

extension StoredDevice {
    var id: String {
        switch self {
        case .installation(let installation): installation.id
        case .registration(let registration): registration.id
        }
    }

    var kind: DeviceLease.Kind {
        switch self {
        case .installation: .installation
        case .registration: .registration
        }
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

/// The shares of the hubs.
struct HubShares: Sendable {
    /// One hub.
    struct Row: Encodable, Sendable, Equatable {
        var hub: String
        /// `nil` if the hub is not in the file.
        var endpoint: String?
        var users = 0
        /// Of the users, in percent with one decimal.
        var share = 0.0
        var devices = 0
        var toMove = 0
        var atHub = 0

        private enum CodingKeys: String, CodingKey {
            case hub = "Hub", endpoint = "Endpoint", users = "Users", share = "SharePercent", devices = "Devices"
            case toMove = "ToMove", atHub = "AtHub"
        }
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
                row.share = share.rounded() / 10
                return row
            }
            .sorted { ($0.endpoint == nil ? 1 : 0, $0.hub) < ($1.endpoint == nil ? 1 : 0, $1.hub) }
    }

    var lines: [String] {
        var table = TextTable()
        table.add(["HUB", "USERS", "SHARE", "DEVICES", "TO MOVE", "AT THE HUB"])
        for row in rows {
            let name = row.hub.oneLine + (row.endpoint == nil ? " (not in the file)" : "")
            table.add([
                name, row.users.grouped, "\(row.share) %", row.devices.grouped, row.toMove.grouped, row.atHub.grouped,
            ])
        }
        return table.lines
    }
}
