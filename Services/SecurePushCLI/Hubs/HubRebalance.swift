import SecurePushCore
import Synchronization

/// Moves devices to their users' hubs, as ``HubsCommand/Rebalance`` says. A device is changed under its lease, like by
/// the services. It keeps no state of its own: the places in the store tell what is left to do.
struct HubRebalance: Sendable {
    typealias Source = PlacedDevices.Source & DeviceLeases

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
            /// The device is not stored any more.
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
            try await pass(.copy, &report, progress) { [table] in table.needsCopy($0, $1) }
            if !plan.copyOnly {
                try await pass(.move, &report, progress) { [table] in table.needsMove($0, $1) }
                try await deleteOrphans(&report, progress)
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
    private func deleteOrphans(
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
            } catch RebalanceObstacle.busy {
                failure = "the services are changing it"
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
        let device = item.device
        guard case .leased(let lease) = try await store.lease(device.kind, device.id, if: .any, now: .now) else {
            throw RebalanceObstacle.busy
        }
        var work = item.work
        if lease.isInDoubt, work == .copy {
            // A change of the services did not finish. A move brings all hubs to the state of the store, as the
            // services do; a copy does not.
            if plan.copyOnly {
                try await store.expire(lease, now: .now)
                throw RebalanceObstacle.busy
            }
            work = .move
        }
        do {
            let left = try await change(device, lease, work)
            _ = try await store.end(lease, .keep, now: .now)
            return left
        } catch let error as PushGatewayError where !lease.isInDoubt {
            // What is unknown now is in the places.
            _ = try await store.end(lease, .keep, now: .now)
            throw error
        } catch {
            // If this fails too, the lease expires by itself.
            try? await store.expire(lease, now: .now)
            throw error
        }
    }

    private func change(
        _ reference: DeviceReference, _ lease: DeviceLease, _ work: Item.Work
    ) async throws -> [String] {
        let device: StoredDevice? =
            switch reference.kind {
            case .installation: try await store.installation(reference.id).map(StoredDevice.installation)
            case .registration: try await store.registration(reference.id).map(StoredDevice.registration)
            }
        switch (device, work) {
        case (let device?, .copy):
            try await placer.copy(device, lease)
            return []
        case (let device?, .move): return try await placer.move(device, lease)
        // The user has removed it since it was read, or has registered it again.
        case (nil, .copy), (_?, .delete): return []
        case (nil, .move), (nil, .delete):
            try await placer.delete(lease)
            return []
        }
    }
}

private enum RebalanceObstacle: Error {
    /// A service holds the device's lease, or the hub may differ from the store.
    case busy
}

/// A device that could not be moved. Never has its handle.
struct RebalanceFailure: Encodable, Sendable, Equatable {
    var kind: RefillItem.Kind
    var id: String
    var reason: String

    private enum CodingKeys: String, CodingKey {
        case kind = "Kind", id = "Id", reason = "Reason"
    }
}

/// The result of a rebalance.
struct RebalanceReport: Encodable, Sendable, Equatable {
    /// All devices that have registered.
    var devices = 0
    /// Devices whose hub does not have them, and devices that are to be looked at afterwards, when the run began.
    var toPut = 0
    var toSettle = 0
    /// Devices that were put at their hub.
    var put = 0
    /// Devices that are at no other hub any more.
    var settled = 0
    var failed = 0
    var failedDevices: Set<DeviceReference> = []
    /// The first ones.
    var failures: [RebalanceFailure] = []
    var isDryRun = false
    var copyOnly = false
    var isInterrupted = false

    private static let maxFailures = 1000

    init(isDryRun: Bool = false, copyOnly: Bool = false) {
        self.isDryRun = isDryRun
        self.copyOnly = copyOnly
    }

    mutating func count(_ item: HubRebalance.Item, _ reason: String?) {
        if let reason {
            failed += 1
            failedDevices.insert(item.device)
            let kind: RefillItem.Kind = item.device.kind == .installation ? .installation : .registration
            if failures.count < Self.maxFailures {
                failures.append(RebalanceFailure(kind: kind, id: item.device.id, reason: reason))
            }
            return
        }
        switch item.work {
        case .copy: put += 1
        case .move, .delete: settled += 1
        }
    }

    /// The steps that are done and those that there are, for the progress.
    var steps: (done: Int, total: Int) {
        let total = max(toPut + toSettle, put + settled + failed)
        return (put + settled + failed, total)
    }

    var summary: String {
        if isDryRun {
            let move = copyOnly ? "" : "; would remove \(toSettle.grouped) at other hubs, if they are there"
            return "would put \(toPut.grouped) of \(devices.grouped) devices at their users' hubs\(move)"
        }
        let removed = copyOnly ? "" : "; settled \(settled.grouped) at their users' hubs only"
        let end = isInterrupted ? "; interrupted, run it again to continue" : ""
        return "put \(put.grouped) of \(devices.grouped) devices at their users' hubs\(removed); "
            + "\(failed.grouped) failed\(end)"
    }

    private enum CodingKeys: String, CodingKey {
        case devices = "Devices", toPut = "ToPut", toSettle = "ToSettle", put = "Put", settled = "Settled"
        case failed = "Failed", isDryRun = "DryRun", isInterrupted = "Interrupted"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(devices, forKey: .devices)
        try container.encode(toPut, forKey: .toPut)
        try container.encode(toSettle, forKey: .toSettle)
        try container.encode(put, forKey: .put)
        try container.encode(settled, forKey: .settled)
        try container.encode(failed, forKey: .failed)
        try container.encode(isDryRun, forKey: .isDryRun)
        try container.encode(isInterrupted, forKey: .isInterrupted)
    }
}
