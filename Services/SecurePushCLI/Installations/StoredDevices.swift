import SecurePushCore

/// The devices of the database page by page: installations first, then registrations. A page has one kind, and is never
/// empty.
struct StoredDevices: AsyncSequence, AsyncIteratorProtocol, Sendable {
    static let pageSize = 500
    /// Registrations of one user that are listed. A user needs a few.
    static let maxRegistrationsOfUser = 10_000

    private let store: any Store
    private let owner: UserName?
    private let pageSize: Int
    /// Those that are not at their end.
    private var kinds: [DeviceLease.Kind]
    private var after: String?
    /// The registrations of the owner that were not read yet.
    private var left: [DeviceReference]?

    /// - Parameter owner: only this user's devices; `nil` for all.
    init(
        store: any Store, owner: UserName? = nil, kinds: [DeviceLease.Kind] = DeviceLease.Kind.allCases,
        pageSize: Int = StoredDevices.pageSize
    ) {
        (self.store, self.owner, self.kinds, self.pageSize) = (store, owner, kinds, pageSize)
    }

    func makeAsyncIterator() -> StoredDevices { self }

    mutating func next() async throws -> [StoredDevice]? {
        while let kind = kinds.first {
            let page = try await page(of: kind)
            if !page.isEmpty { return page }
        }
        return nil
    }

    private mutating func page(of kind: DeviceLease.Kind) async throws -> [StoredDevice] {
        if kind == .registration, let owner { return try await registrations(of: owner) }
        let page: [StoredDevice] =
            switch (kind, owner) {
            case (.installation, let owner?):
                try await store.installations(of: owner, after: after, limit: pageSize).map(StoredDevice.installation)
            case (.installation, nil):
                try await store.installations(after: after, limit: pageSize).map(StoredDevice.installation)
            case (.registration, _):
                try await store.registrations(after: after, limit: pageSize).map(StoredDevice.registration)
            }
        after = page.last?.reference.id
        if page.count < pageSize { end() }
        return page
    }

    private mutating func registrations(of owner: UserName) async throws -> [StoredDevice] {
        var left = self.left ?? []
        if self.left == nil {
            left = try await store.devices(of: owner, limit: Self.maxRegistrationsOfUser)
                .filter { $0.kind == .registration }
        }
        var page: [StoredDevice] = []
        for device in left.prefix(pageSize) {
            // It may be removed meanwhile.
            if let registration = try await store.registration(device.id, owner: owner) {
                page.append(.registration(registration))
            }
        }
        self.left = Array(left.dropFirst(pageSize))
        if left.count <= pageSize { end() }
        return page
    }

    private mutating func end() {
        kinds.removeFirst()
        after = nil
    }
}

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

    init(_ device: StoredDevice) {
        switch device {
        case .installation(let installation): self.init(installation)
        case .registration(let registration): self.init(registration)
        }
    }

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
