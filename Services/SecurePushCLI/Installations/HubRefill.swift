import SecurePushCore

/// Writes the store's installations and registrations to a hub, or to their users' hubs. It can be repeated: a second
/// run writes the same again.
struct HubRefill: Sendable {
    typealias Source = DeviceStore

    let store: any Source
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
        try await withThrowingTaskGroup(of: (RefillItem, String?).self) { group in
            var waiting = items.makeIterator()
            func start(_ item: RefillItem) { group.addTask { (item, try await put(item)) } }
            for _ in 0..<Self.concurrency {
                if let item = waiting.next() { start(item) }
            }
            while let (item, reason) = try await group.next() {
                report.count(item, reason)
                progress(report)
                if let item = waiting.next() { start(item) }
            }
        }
    }

    /// - Returns: why this row could not be put; `nil` if the hub has accepted it.
    private func put(_ item: RefillItem) async throws -> String? {
        guard let hubs else { return nil }
        for attempt in 1... {
            do {
                switch hubs {
                case .single(let hub): try await putOnce(item, hub)
                case .pool: try await putInPlace(item, DevicePlacer(hubs, places: store))
                }
                return nil
            } catch is DeviceIsBusy {
                guard attempt < Self.maxAttempts else { return DeviceIsBusy.reason }
                try await pause(.milliseconds(500 * attempt))
            } catch let error as PushGatewayError {
                guard error.code == .throttled || error.code == .unavailable else { return try refusal(error) }
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

    /// With several hubs a device is put under its lease and its place is stored, as the services do. Otherwise nobody
    /// would know of it at this hub when its user removes it.
    private func putInPlace(_ item: RefillItem, _ placer: DevicePlacer) async throws {
        if case .incomplete = item.content { return }
        try await LeasedDevices(store: store).change(item.reference) { device, lease in
            // Its user has removed it since it was read.
            guard let device else { return try await placer.delete(lease) }
            _ = try await placer.put(device, lease)
        }
    }

    private func refusal(_ error: PushGatewayError) throws(CommandFailure) -> String {
        if error.code == .unauthorized {
            throw CommandFailure(
                .configuration, "The hub refuses the credentials (\(error.reason)).",
                hint: "Copy the connection string again, from a policy with Listen, Send and Manage.")
        }
        return error.code == .gone
            ? "the hub has deleted this ID; the device registers again when the app starts next"
            : "the hub refuses it (\(error.reason))"
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

        init(_ kind: DeviceLease.Kind) {
            switch kind {
            case .installation: self = .installation
            case .registration: self = .registration
            }
        }
    }

    enum Content: Sendable {
        case installation([UInt8])
        case registration(RegistrationPlatform, handle: String, tags: [String])
        /// The device has not sent its handle yet, so there is nothing to write.
        case incomplete
    }

    var reference: DeviceReference
    var content: Content

    var kind: Kind { Kind(reference.kind) }
    var id: String { reference.id }

    init(_ installation: Installation) {
        reference = DeviceReference(kind: .installation, id: installation.id)
        content = .installation(installation.document)
    }

    init(_ registration: Registration) {
        reference = DeviceReference(kind: .registration, id: registration.id)
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

/// The result of a refill.
struct RefillReport: Encodable, Sendable, Equatable {
    var installations = 0
    var registrations = 0
    /// Registrations without a handle.
    var incomplete = 0
    var failures = DeviceFailures()
    var isDryRun = false

    init(isDryRun: Bool = false) { self.isDryRun = isDryRun }

    mutating func count(_ item: RefillItem, _ reason: String?) {
        if let reason { return failures.add(DeviceFailure(kind: item.kind, id: item.id, reason: reason)) }
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
