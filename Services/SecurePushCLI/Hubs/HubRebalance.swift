import Domain

/// Moves devices to their users' hubs, as ``HubsCommand/Rebalance`` says. It keeps no state of its own: the places in
/// the store tell which devices are left.
struct HubRebalance: Sendable {
    struct Plan: Sendable {
        var isDryRun = false
        var copyOnly = false
        /// Devices per second.
        var rate = 100
    }

    let store: any Store
    let table: HubTable<any DevicePlacer.Hub>
    let plan: Plan
    var stop = StopRequest()
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    private var writer: HubWriter {
        HubWriter(
            store: store, hubs: .pool { [table] in table }, concurrency: 8, rate: plan.rate, copyOnly: plan.copyOnly,
            nextRun: "It continues with the devices that are left.", stop: stop, pause: pause)
    }

    /// - Parameter progress: called with the report after each device.
    /// - Throws: ``CommandFailure`` if a hub is unreachable or refuses the credentials; ``StorageError``.
    func run(progress: @escaping @Sendable (RebalanceReport) -> Void) async throws -> RebalanceReport {
        var report = try await survey()
        if plan.isDryRun { return report }
        progress(report)
        do {
            // Removed devices come first, because the services may push to them already.
            if !plan.copyOnly { try await deleteStrays(&report, progress) }
            try await pass(.copy, &report, progress) { [table] in table.needsCopy($0, $1) }
            if plan.copyOnly {
                // Users may have removed some of the copied devices meanwhile.
                try await deleteStrays(&report, progress)
            } else {
                try await pass(.move, &report, progress) { [table] in table.needsMove($0, $1) }
            }
        } catch var failure as CommandFailure {
            failure.details.append("Until then: \(report.summary).")
            throw failure
        }
        report.isInterrupted = stop.isRequested
        return report
    }

    private func survey() async throws -> RebalanceReport {
        var report = RebalanceReport(isDryRun: plan.isDryRun, copyOnly: plan.copyOnly)
        for try await page in StoredDevices(store: store) {
            for (device, places) in try await store.placed(page) where !device.isIncomplete {
                report.devices += 1
                if table.needsCopy(device, places) { report.toPut += 1 }
                if !plan.copyOnly, table.needsMove(device, places) { report.toSettle += 1 }
            }
        }
        return report
    }

    private func pass(
        _ work: HubWriter.Item.Work, _ report: inout RebalanceReport, _ progress: (RebalanceReport) -> Void,
        where isNeeded: (StoredDevice, [DevicePlace]) -> Bool
    ) async throws {
        for try await page in StoredDevices(store: store) {
            let needed = try await store.placed(page).filter { isNeeded($0.device, $0.places) }.map(\.device.reference)
            // A device that could not be put at its hub stays where it is.
            let devices = needed.filter { !report.failedDevices.contains($0) }
            report.toSettle -= needed.count - devices.count
            try await perform(work, devices, &report, progress)
            if stop.isRequested { return }
        }
    }

    /// Deletes devices at the hubs where they were copied to before their users removed them.
    private func deleteStrays(
        _ report: inout RebalanceReport, _ progress: (RebalanceReport) -> Void
    ) async throws {
        for kind in DeviceLease.Kind.allCases {
            var after: String?
            while !stop.isRequested {
                let page = try await store.placesWithoutDevice(of: kind, after: after, limit: StoredDevices.pageSize)
                guard let last = page.last else { break }
                let places = try await store.places(of: kind, page.map(\.id))
                let known = page.filter { device in
                    places[device.id]?.contains { table.member(named: $0.hub) != nil } ?? false
                }
                try await perform(.delete, known, &report, progress)
                after = last.id
            }
        }
    }

    private func perform(
        _ work: HubWriter.Item.Work, _ devices: [DeviceReference], _ report: inout RebalanceReport,
        _ progress: (RebalanceReport) -> Void
    ) async throws {
        try await writer.perform(devices.map { .init(device: $0, work: work) }) { item, failure in
            report.count(item, failure)
            progress(report)
        }
    }
}
