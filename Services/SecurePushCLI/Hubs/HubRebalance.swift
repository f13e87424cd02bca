import SecurePushCore
import Synchronization

/// Moves devices to their users' hubs, as ``HubsCommand/Rebalance`` says. A device is changed under its lease, like by
/// the services. It keeps no state of its own: the places in the store tell what is left to do.
struct HubRebalance: Sendable {
    typealias Source = DeviceStore

    /// What to do, and how fast.
    struct Plan: Sendable {
        var isDryRun = false
        var copyOnly = false
        /// Devices per second.
        var rate = 100
    }

    /// A device, and what is done with it.
    struct Item: Sendable {
        enum Work: Sendable {
            case copy, move
            /// The device is not stored any more. Its user removed it while it was being copied.
            case delete
        }

        var device: DeviceReference
        var work: Work
    }

    let store: any Source
    let table: HubTable<any DevicePlacer.Hub>
    let plan: Plan
    var stop = StopRequest()
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    private static let concurrency = 8
    private static let maxAttempts = 6
    private static let pageSize = 500

    private var placer: DevicePlacer { DevicePlacer(.pool { [table] in table }, places: store) }

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
        try await PlacedDevices(store: store).forEachPage { page in
            for (device, places) in page where !device.isIncomplete {
                report.devices += 1
                if table.needsCopy(device, places) { report.toPut += 1 }
                if !plan.copyOnly, table.needsMove(device, places) { report.toSettle += 1 }
            }
        }
        return report
    }

    private func pass(
        _ work: Item.Work, _ report: inout RebalanceReport, _ progress: @Sendable (RebalanceReport) -> Void,
        where isNeeded: (StoredDevice, [DevicePlace]) -> Bool
    ) async throws {
        try await PlacedDevices(store: store).forEachPage(while: { page in
            let needed = page.filter { isNeeded($0.device, $0.places) }.map {
                Item(device: DeviceReference(kind: $0.device.kind, id: $0.device.id), work: work)
            }
            // A device that could not be put at its hub stays where it is.
            let items = needed.filter { !report.failedDevices.contains($0.device) }
            report.toSettle -= needed.count - items.count
            try await perform(items, &report, progress)
            return !stop.isRequested
        })
    }

    /// Deletes devices at the hubs where they were copied to before their users removed them.
    private func deleteStrays(
        _ report: inout RebalanceReport, _ progress: @Sendable (RebalanceReport) -> Void
    ) async throws {
        for kind in DeviceLease.Kind.allCases {
            var after: String?
            while !stop.isRequested {
                let page = try await store.placesWithoutDevice(of: kind, after: after, limit: Self.pageSize)
                guard let last = page.last else { break }
                let places = try await store.places(of: kind, page.map(\.id))
                let known = page.filter { device in
                    places[device.id]?.contains { table.member(named: $0.hub) != nil } ?? false
                }
                try await perform(known.map { Item(device: $0, work: .delete) }, &report, progress)
                after = last.id
            }
        }
    }

    /// Works on some devices at once, not faster than the rate.
    private func perform(
        _ items: [Item], _ report: inout RebalanceReport, _ progress: @Sendable (RebalanceReport) -> Void
    ) async throws {
        let interval = Duration.seconds(1) / plan.rate
        var due = ContinuousClock.now
        try await withThrowingTaskGroup(of: (Item, String?).self) { group in
            var waiting = items.makeIterator()
            var running = 0
            while true {
                while running < Self.concurrency, !stop.isRequested, let item = waiting.next() {
                    let now = ContinuousClock.now
                    if due > now { try await pause(now.duration(to: due)) }
                    due = max(due, now) + interval
                    group.addTask { (item, try await perform(item)) }
                    running += 1
                }
                guard let (item, failure) = try await group.next() else { return }
                running -= 1
                report.count(item, failure)
                progress(report)
            }
        }
    }

    /// - Returns: why it failed for this device; `nil` if it is done.
    private func perform(_ item: Item) async throws -> String? {
        var failure: String?
        for attempt in 1...Self.maxAttempts {
            do {
                let left = try await performOnce(item)
                guard !left.isEmpty else { return nil }
                failure = "it could not be removed at \(left.joined(separator: ", "))"
                // The services and the next run try again. The devices that users have must not wait for that.
                if item.work == .delete { return failure }
            } catch is DeviceIsBusy {
                failure = DeviceIsBusy.reason
            } catch let error as PushGatewayError {
                switch error.code {
                case .unauthorized:
                    throw CommandFailure(
                        .configuration, "A hub refuses the credentials (\(error.reason)).",
                        hint: "`securepush doctor` checks each hub of the file.")
                case .gone: return "the hub has deleted this ID; the device registers again when the app starts next"
                case .rejected: return "the hub refuses it (\(error.reason))"
                case .throttled, .unavailable:
                    guard attempt < Self.maxAttempts else {
                        throw CommandFailure(
                            .unreachable, "A hub does not answer (\(error.reason)).",
                            hint: "Run the command again. It continues with the devices that are left.")
                    }
                    try await pause(error.retryAfter ?? .seconds(1 << (attempt - 1)))
                    continue
                }
            }
            if attempt < Self.maxAttempts { try await pause(.milliseconds(500 * attempt)) }
        }
        return failure
    }

    /// - Returns: the hubs that have not deleted the device.
    private func performOnce(_ item: Item) async throws -> [String] {
        try await LeasedDevices(store: store).change(item.device) { device, lease in
            var work = item.work
            if lease.isInDoubt, work == .copy {
                // A change of the services did not finish. A move brings all hubs to the state of the store, as the
                // services do; a copy does not.
                if plan.copyOnly { throw DeviceIsBusy() }
                work = .move
            }
            switch (device, work) {
            case (let device?, .copy):
                try await placer.copy(device, lease)
                return []
            case (let device?, .move): return try await placer.move(device, lease)
            // The user has removed it since it was read, or has registered it again.
            case (nil, .copy), (_?, .delete): return []
            case (nil, .move):
                try await placer.delete(lease)
                return []
            case (nil, .delete): return try await placer.deleteStray(lease).left
            }
        }
    }
}
