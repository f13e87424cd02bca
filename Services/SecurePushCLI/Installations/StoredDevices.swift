import Domain
import Foundations

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

extension StoredDevice {
    /// The hub's format; `nil` for a registration ID without a device.
    var platform: String? {
        switch self {
        case .installation(let installation): installation.platform.rawValue
        case .registration(let registration): registration.platform?.platform.rawValue
        }
    }

    var updatedAt: Timestamp {
        switch self {
        case .installation(let installation): installation.updatedAt
        case .registration(let registration): registration.updatedAt
        }
    }

    /// - Parameter withContent: whether handle, tags and the installation in the hub's own form are included.
    func json(withContent: Bool) -> String {
        var json = JSONWriter(capacity: 1024)
        json.object { json in
            json.member("Kind", "\(reference.kind)")
            json.member("Id", reference.id)
            json.member("User", owner.text)
            if let platform { json.member("Platform", platform) }
            json.member("UpdatedAt", "\(updatedAt)")
            json.member("LastSeenAt", "\(seenAt.startOfDay)")
            switch self {
            case .installation(let installation):
                if let expiresAt = installation.expiresAt { json.member("ExpiresAt", "\(expiresAt)") }
                if let key = installation.encryptionKey {
                    json.member("Key")
                    key.key.write(to: &json)
                    json.member("KeyCreatedAt", "\(key.createdAt)")
                }
                guard withContent else { return }
                json.member("Handle", installation.handle)
                json.member("Installation", json: installation.document)
            case .registration(let registration):
                guard withContent else { return }
                if let handle = registration.handle { json.member("Handle", handle) }
                json.member("Tags", registration.tags)
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
