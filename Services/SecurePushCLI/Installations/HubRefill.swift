import Domain
import NotificationHubs
import ServiceLifecycle
import ServiceRuntime
import Storage

/// Writes the store's installations and registrations to a hub, or to their users' hubs. It can be repeated: a second
/// run writes the same again.
struct HubRefill: Sendable {
    let store: any Store
    /// `nil` for a dry run, which only counts.
    let hubs: DevicePlacer.Hubs?
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// - Parameter progress: called with the counts after each row.
    /// - Throws: ``CommandFailure`` if the hub is unreachable or refuses the credentials; ``StorageError``.
    func run(_ kinds: [DeviceLease.Kind], progress: (RefillReport) -> Void) async throws -> RefillReport {
        var report = RefillReport(isDryRun: hubs == nil)
        let writer = hubs.map {
            HubWriter(
                store: store, hubs: $0, concurrency: 16, nextRun: "It starts from the beginning.", pause: pause)
        }
        do {
            for try await page in StoredDevices(store: store, kinds: kinds) {
                for device in page where writer == nil || device.isIncomplete {
                    if device.isIncomplete { report.incomplete += 1 } else { report.count(device.reference) }
                    progress(report)
                }
                let items = page.filter { !$0.isIncomplete }.map { device in
                    HubWriter.Item(device: device.reference, work: .put, stored: device)
                }
                try await writer?.perform(items) { item, reason in
                    if let reason { report.failures.add(item.device, reason) } else { report.count(item.device) }
                    progress(report)
                }
            }
        } catch var failure as CommandFailure {
            failure.details.append("Until then: \(report.summary).")
            throw failure
        }
        return report
    }
}

extension HubRefill {
    /// Opens the store and the hubs for the duration of a refill.
    ///
    /// - Parameter hubs: `nil` for a dry run.
    static func run(
        _ kinds: [DeviceLease.Kind], databaseURL: String, hubs: HubSettings?, line: ProgressLine
    ) async throws -> RefillReport {
        let opened = try await StoreSession.open(databaseURL)
        let (hubs, service) = try open(hubs)
        let refill: @Sendable () async throws -> RefillReport = {
            defer { line.clear() }
            return try await HubRefill(store: opened.store, hubs: hubs).run(kinds) { report in
                // Writing a line for every device would take longer than the devices.
                if report.done.isMultiple(of: 100) { line.show(report.summary) }
            }
        }
        return try await StoreSession.run(opened) { _ in
            guard let service else { return try await refill() }
            return try await withRunning(service) { try await refill() }
        }
    }

    private static func open(_ settings: HubSettings?) throws -> (DevicePlacer.Hubs?, (any Service)?) {
        switch settings {
        case .single(let configuration)?:
            let hub = HubDevices(configuration: configuration, logger: .silent)
            return (.single(hub), hub)
        case .pool(let settings)?:
            let file = try CommandFailure.naming("HUB_POOL_FILE") { try HubPoolFile(settings, logger: .silent) }
            let pool = HubDevicesPool(file: file, logger: .silent)
            let table = pool.table
            return (.pool { table }, pool)
        case nil: return (nil, nil)
        }
    }
}

struct RefillReport: Encodable, Sendable, Equatable {
    var installations = 0
    var registrations = 0
    /// Registrations without a handle.
    var incomplete = 0
    var failures = DeviceFailures()
    var isDryRun = false

    mutating func count(_ device: DeviceReference) {
        switch device.kind {
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
        case installations, registrations, incomplete, failures = "Failed", isDryRun = "DryRun"
    }
}
