import SecurePushCore

/// Writes the store's installations and registrations to a hub. It can be repeated: a second run writes the same again.
struct HubRefill: Sendable {
    let store: any RegistrationStore & InstallationStore
    /// `nil` for a dry run, which only counts.
    let hubs: DevicePlacer.Hubs?
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Concurrent requests to the hub.
    private static let concurrency = 16
    private static let pageSize = 500
    private static let maxAttempts = 6

    /// - Parameter progress: called with the counts after each row.
    /// - Throws: ``CommandFailure`` if the hub is unreachable or refuses the credentials; ``StorageError``.
    func run(_ kinds: [RefillItem.Kind], progress: (RefillReport) -> Void) async throws -> RefillReport {
        var report = RefillReport(isDryRun: hubs == nil)
        do {
            for kind in kinds {
                var page = try await self.page(of: kind, after: nil)
                while let last = page.last {
                    try await put(page, into: &report, progress: progress)
                    page = try await self.page(of: kind, after: last.id)
                }
            }
        } catch var failure as CommandFailure {
            failure.details.append("Until then: \(report.summary).")
            throw failure
        }
        return report
    }

    private func page(of kind: RefillItem.Kind, after id: String?) async throws -> [RefillItem] {
        switch kind {
        case .installation:
            try await store.installations(after: id, limit: Self.pageSize).map(RefillItem.init)
        case .registration:
            try await store.registrations(after: id, limit: Self.pageSize).map(RefillItem.init)
        }
    }

    private func put(
        _ items: [RefillItem], into report: inout RefillReport, progress: (RefillReport) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: (RefillItem, RefillFailure?).self) { group in
            var waiting = items.makeIterator()
            func start(_ item: RefillItem) { group.addTask { (item, try await put(item)) } }
            for _ in 0..<Self.concurrency {
                if let item = waiting.next() { start(item) }
            }
            while let (item, failure) = try await group.next() {
                report.count(item, failure)
                progress(report)
                if let item = waiting.next() { start(item) }
            }
        }
    }

    /// - Returns: why the hub refuses this row; `nil` if it has accepted it.
    private func put(_ item: RefillItem) async throws -> RefillFailure? {
        guard let hub = hubs?.hub(of: item.owner) else { return nil }
        for attempt in 1... {
            do {
                try await putOnce(item, hub)
                return nil
            } catch let error as PushGatewayError {
                guard error.code == .throttled || error.code == .unavailable else {
                    return try refusal(of: item, error)
                }
                guard attempt < Self.maxAttempts else {
                    throw CommandFailure(
                        .unreachable, "The hub: \(error.reason).",
                        hint: "Run the command again. It starts from the beginning.")
                }
                try await pause(error.retryAfter ?? .seconds(1 << (attempt - 1)))
            }
        }
        return nil
    }

    private func putOnce(
        _ item: RefillItem, _ hub: any RegistrationGateway & InstallationGateway
    ) async throws {
        switch item.content {
        case .installation(let document): try await hub.putInstallation(item.id, document: document)
        case .registration(let platform, let handle, let tags):
            try await hub.putRegistration(item.id, platform: platform, handle: handle, tags: tags)
        case .incomplete: break
        }
    }

    private func refusal(of item: RefillItem, _ error: PushGatewayError) throws(CommandFailure) -> RefillFailure {
        if error.code == .unauthorized {
            throw CommandFailure(
                .configuration, "The hub refuses the credentials (\(error.reason)).",
                hint: "Copy the connection string again, from a policy with Listen, Send and Manage.")
        }
        let reason =
            error.code == .gone
            ? "the hub has deleted this ID; the device registers again when the app starts next"
            : "the hub refuses it (\(error.reason))"
        return RefillFailure(kind: item.kind, id: item.id, reason: reason)
    }
}

extension DevicePlacer.Hubs {
    /// The hub of a user.
    fileprivate func hub(of user: UserName) -> any DevicePlacer.Hub {
        switch self {
        case .single(let hub): hub
        case .pool(let table): table().member(for: user).client
        }
    }
}

extension PushGatewayError {
    /// The message without the hub's own text, which can contain the device's handle.
    var reason: String { String(message.prefix { $0 != ":" }) }
}

/// A row of the store to write to the hub.
struct RefillItem: Sendable {
    enum Kind: String, Encodable, Sendable, CaseIterable {
        case installation
        case registration
    }

    enum Content: Sendable {
        case installation([UInt8])
        case registration(RegistrationPlatform, handle: String, tags: [String])
        /// The device has not sent its handle yet, so there is nothing to write.
        case incomplete
    }

    var kind: Kind
    var id: String
    var owner: UserName
    var content: Content

    init(_ installation: Installation) {
        kind = .installation
        owner = installation.owner
        id = installation.id
        content = .installation(installation.document)
    }

    init(_ registration: Registration) {
        kind = .registration
        owner = registration.owner
        id = registration.id
        guard let platform = registration.platform, let handle = registration.handle else {
            content = .incomplete
            return
        }
        // Pushes address the user's own tag, so it is always present.
        let tag = registration.owner.tag
        let tags = registration.tags.contains(tag) ? registration.tags : registration.tags + [tag]
        content = .registration(platform, handle: handle, tags: tags)
    }
}

/// A row that the hub refused. Never has the device's handle.
struct RefillFailure: Encodable, Sendable, Equatable {
    var kind: RefillItem.Kind
    var id: String
    var reason: String

    private enum CodingKeys: String, CodingKey {
        case kind = "Kind", id = "Id", reason = "Reason"
    }
}

/// The result of a refill.
struct RefillReport: Encodable, Sendable, Equatable {
    var installations = 0
    var registrations = 0
    /// Registrations without a handle.
    var incomplete = 0
    var failures: [RefillFailure] = []
    var isDryRun = false

    init(isDryRun: Bool = false) { self.isDryRun = isDryRun }

    mutating func count(_ item: RefillItem, _ failure: RefillFailure?) {
        if let failure { return failures.append(failure) }
        if case .incomplete = item.content { return incomplete += 1 }
        switch item.kind {
        case .installation: installations += 1
        case .registration: registrations += 1
        }
    }

    var done: Int { installations + registrations + incomplete + failures.count }

    var summary: String {
        "\(isDryRun ? "would put" : "put") \(installations) installations and \(registrations) registrations; "
            + "\(incomplete) have no handle yet; \(failures.count) failed"
    }

    private enum CodingKeys: String, CodingKey {
        case installations = "Installations", registrations = "Registrations", incomplete = "Incomplete"
        case failed = "Failed", isDryRun = "DryRun"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(installations, forKey: .installations)
        try container.encode(registrations, forKey: .registrations)
        try container.encode(incomplete, forKey: .incomplete)
        try container.encode(failures.count, forKey: .failed)
        try container.encode(isDryRun, forKey: .isDryRun)
    }
}
