import SecurePushCore

/// Reads the devices of the database page by page: installations first, then registrations.
struct StoredDevices: Sendable {
    let store: any DeviceStore
    /// Only this user's devices; `nil` for all.
    let owner: UserName?

    /// Rows per statement.
    static let pageSize = 200
    /// Registrations of one user that are listed. A user needs a few.
    static let maxRegistrationsOfUser = 10_000

    func forEachPage(_ body: ([DeviceRecord]) throws -> Void) async throws {
        try await forEachPage(body) { try await installations(after: $0).map(DeviceRecord.init) }
        if let owner { return try await forEachPage(ofRegistrationsOf: owner, body) }
        try await forEachPage(body) {
            try await store.registrations(after: $0, limit: Self.pageSize).map(DeviceRecord.init)
        }
    }

    private func installations(after id: String?) async throws -> [Installation] {
        if let owner { return try await store.installations(of: owner, after: id, limit: Self.pageSize) }
        return try await store.installations(after: id, limit: Self.pageSize)
    }

    /// - Parameter page: reads the page after an ID, with ``pageSize`` rows unless it is the last.
    private func forEachPage(
        _ body: ([DeviceRecord]) throws -> Void, _ page: (String?) async throws -> [DeviceRecord]
    ) async throws {
        var after: String?
        while true {
            let devices = try await page(after)
            if !devices.isEmpty { try body(devices) }
            guard devices.count == Self.pageSize else { return }
            after = devices.last?.id
        }
    }

    private func forEachPage(ofRegistrationsOf owner: UserName, _ body: ([DeviceRecord]) throws -> Void) async throws {
        let devices = try await store.devices(of: owner, limit: Self.maxRegistrationsOfUser)
        var page: [DeviceRecord] = []
        for device in devices where device.kind == .registration {
            // It may be removed meanwhile.
            guard let registration = try await store.registration(device.id, owner: owner) else { continue }
            page.append(DeviceRecord(registration))
            if page.count == Self.pageSize {
                try body(page)
                page = []
            }
        }
        if !page.isEmpty { try body(page) }
    }
}

/// A device as the commands print it.
struct DeviceRecord: Sendable, Equatable {
    /// `installation` or `registration`.
    var kind: String
    var id: String
    var user: String
    /// The hub's format; `nil` for a registration ID without a device.
    var platform: String?
    var handle: String?
    var updatedAt: Timestamp
    /// Rounded to the day.
    var lastSeenAt: Timestamp
    var expiresAt: Timestamp?
    /// The public key for end-to-end encryption; `nil` if the device has registered none.
    var key: DeviceEncryptionKey?
    /// The installation in the hub's own form.
    var document: [UInt8]?
    /// The tags of a registration.
    var tags: [String]?

    init(_ installation: Installation) {
        kind = "installation"
        id = installation.id
        user = installation.owner.text
        platform = installation.platform.rawValue
        handle = installation.handle
        updatedAt = installation.updatedAt
        lastSeenAt = installation.lastSeenAt.startOfDay
        expiresAt = installation.expiresAt
        key = installation.encryptionKey
        document = installation.document
    }

    init(_ registration: Registration) {
        kind = "registration"
        id = registration.id
        user = registration.owner.text
        platform = registration.platform?.platform.rawValue
        handle = registration.handle
        updatedAt = registration.updatedAt
        lastSeenAt = registration.updatedAt.startOfDay
        tags = registration.tags
    }

    /// - Parameter withContent: whether handle, tags and document are included.
    func json(withContent: Bool) -> String {
        var json = JSONWriter(capacity: 256 + (document?.count ?? 0))
        json.object { json in
            json.member("Kind", kind)
            json.member("Id", id)
            json.member("User", user)
            if let platform { json.member("Platform", platform) }
            json.member("UpdatedAt", "\(updatedAt)")
            json.member("LastSeenAt", "\(lastSeenAt)")
            if let expiresAt { json.member("ExpiresAt", "\(expiresAt)") }
            if let key {
                json.member("Key")
                key.key.write(to: &json)
                json.member("KeyCreatedAt", "\(key.createdAt)")
            }
            guard withContent else { return }
            if let handle { json.member("Handle", handle) }
            if let tags { json.member("Tags", tags) }
            if let document { json.member("Installation", json: document) }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
