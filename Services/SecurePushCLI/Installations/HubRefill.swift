import SecurePushCore

/// Puts the store's installations and registrations into a hub: one that was lost, or a new one. What is there already
/// is overwritten by the same, so it can be run again at any time.
struct HubRefill: Sendable {
    let store: any RegistrationStore & InstallationStore
    let registrations: any RegistrationGateway
    let installations: any InstallationGateway
    /// Counts only; the hub is not asked.
    var isDryRun = false
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Requests to the hub at a time.
    private static let concurrency = 16
    private static let pageSize = 500
    private static let maxAttempts = 6

    /// - Parameter progress: called with what is done so far, often.
    /// - Throws: ``CommandFailure`` where the hub cannot be reached or refuses the credentials; ``StorageError``.
    func run(_ kinds: [RefillItem.Kind], progress: (RefillReport) -> Void) async throws -> RefillReport {
        var report = RefillReport(isDryRun: isDryRun)
        do {
            for kind in kinds {
                var page = try await self.page(of: kind, after: nil)
                while let last = page.last {
                    try await put(page, into: &report, progress: progress)
                    page = try await self.page(of: kind, after: last.id)
                }
            }
        } catch var failure as CommandFailure {
            failure.details.append("Before that: \(report.summary).")
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

    /// - Returns: why the hub does not take this one; `nil` once it has.
    private func put(_ item: RefillItem) async throws -> RefillFailure? {
        if isDryRun { return nil }
        for attempt in 1... {
            do {
                try await putOnce(item)
                return nil
            } catch let error as PushGatewayError {
                guard error.code == .throttled || error.code == .unavailable else {
                    return try refusal(of: item, error)
                }
                guard attempt < Self.maxAttempts else {
                    throw CommandFailure(
                        .unreachable, "The hub: \(error.reason).", hint: "Run the command again; it starts anew.")
                }
                try await pause(error.retryAfter ?? .seconds(1 << (attempt - 1)))
            }
        }
        return nil
    }

    private func putOnce(_ item: RefillItem) async throws {
        switch item.content {
        case .installation(let document): try await installations.putInstallation(item.id, document: document)
        case .registration(let platform, let handle, let tags):
            try await registrations.putRegistration(item.id, platform: platform, handle: handle, tags: tags)
        case .incomplete: break
        }
    }

    private func refusal(of item: RefillItem, _ error: PushGatewayError) throws(CommandFailure) -> RefillFailure {
        if error.code == .unauthorized {
            throw CommandFailure(
                .configuration, "The hub does not take our credentials (\(error.reason)).",
                hint: "Copy the connection string again, from a rule with Listen, Send and Manage.")
        }
        let reason =
            error.code == .gone
            ? "the hub has given up this ID; the device registers again at its next start"
            : "the hub does not take it (\(error.reason))"
        return RefillFailure(kind: item.kind, id: item.id, reason: reason)
    }
}

extension PushGatewayError {
    /// The message without what the hub itself says, which may repeat the device's handle.
    fileprivate var reason: String { String(message.prefix { $0 != ":" }) }
}
