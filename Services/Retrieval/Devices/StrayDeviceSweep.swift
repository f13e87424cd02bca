import Domain
import Foundations
import Logging
import Synchronization

/// Deletes devices at hubs of the pool (`HUB_POOL_FILE`) that are not stored any more.
///
/// `securepush hubs rebalance --copy-only` puts devices at a hub that is not in this service's file yet. If a user
/// removes such a device, this service cannot delete it there, and its place stays in the store. When the hub is in the
/// file, it would push the former user's notifications to the device. So all such devices are looked for at the start
/// and when the file changes, and again later: another process may have followed the file later, or a hub did not
/// answer.
final class StrayDeviceSweep: Sendable {
    private let store: any DeviceChanges.Stores
    private let placer: DevicePlacer
    private let source: @Sendable () -> HubTable<any DevicePlacer.Hub>
    private let logger: Logger
    private let schedule = Mutex(Schedule())
    private let problem = LastingProblemLog(
        "Removed devices cannot be deleted at all hubs", end: "Removed devices are deleted at all hubs again")

    /// Devices per statement.
    private static let pageSize = 100
    /// How often the file is looked at.
    private static let interval: Duration = .seconds(5)
    private static let pauseAfterFailure: Duration = .seconds(10)
    /// The pause after a pass. It is doubled while there is nothing to do, because a pass reads all places.
    static let minPause: Duration = .seconds(60)
    static let maxPause: Duration = .seconds(3600)

    /// When the next pass begins.
    private struct Schedule {
        /// The hubs of the last pass.
        var table: HubTable<any DevicePlacer.Hub>?
        var due = ContinuousClock.now
        var pause = StrayDeviceSweep.minPause

        mutating func isDue(_ table: HubTable<any DevicePlacer.Hub>, _ now: ContinuousClock.Instant) -> Bool {
            if table !== self.table { (self.table, due, pause) = (table, now, StrayDeviceSweep.minPause) }
            return due <= now
        }

        mutating func passed(_ now: ContinuousClock.Instant, foundNothing: Bool) {
            if !foundNothing { pause = StrayDeviceSweep.minPause }
            due = now + pause
            pause = min(pause * 2, StrayDeviceSweep.maxPause)
        }
    }

    private struct Pass {
        var deleted = 0
        /// The hubs that have not deleted a device. They are not asked again in this pass, because each request may
        /// take long.
        var failing: Set<String> = []
    }

    /// - Returns: `nil` without several hubs: only they have places.
    init?(changes: DeviceChanges, logger: Logger) {
        guard let placer = changes.hubs, case .pool(let source) = placer.hubs else { return nil }
        store = changes.store
        self.placer = placer
        self.source = source
        self.logger = logger
    }

    /// Makes a pass over all such devices if one is due.
    ///
    /// - Returns: the pause before the next call.
    func sweep(now: ContinuousClock.Instant = .now) async -> Duration {
        let table = source()
        guard schedule.withLock({ $0.isDue(table, now) }) else { return Self.interval }
        do {
            let pass = try await pass(over: table)
            schedule.withLock {
                $0.passed(max(now, .now), foundNothing: pass.deleted == 0 && pass.failing.isEmpty)
            }
            if pass.deleted > 0 {
                logger.info("Deleted removed devices at hubs", metadata: ["devices": "\(pass.deleted)"])
            }
            if pass.failing.isEmpty {
                problem.succeeded(to: logger)
            } else {
                problem.failed("no deletion at \(pass.failing.sorted().joined(separator: ", "))", to: logger)
            }
            return Self.interval
        } catch {
            return problem.pause(afterSweep: error, interval: Self.pauseAfterFailure, to: logger)
        }
    }

    private func pass(over table: HubTable<any DevicePlacer.Hub>) async throws -> Pass {
        var pass = Pass()
        for kind in DeviceLease.Kind.allCases {
            var after: String?
            while !Task.isCancelled {
                let page = try await store.placesWithoutDevice(of: kind, after: after, limit: Self.pageSize)
                guard let last = page.last else { break }
                let places = try await store.places(of: kind, page.map(\.id))
                for device in page where !Task.isCancelled {
                    let hubs = places[DeviceID.folded(device.id), default: []].map(\.hub)
                        .filter { table.member(named: $0) != nil }
                    if hubs.isEmpty || !pass.failing.isDisjoint(with: hubs) { continue }
                    let (deleted, left) = try await delete(device)
                    if !deleted.isEmpty { pass.deleted += 1 }
                    pass.failing.formUnion(left)
                }
                after = last.id
            }
        }
        return pass
    }

    /// - Returns: the hubs that have deleted the device, and those that have not. There are none if it is stored again,
    ///   or if another process is changing it.
    private func delete(_ device: DeviceReference) async throws -> (deleted: [String], left: [String]) {
        guard case .leased(let lease) = try await store.lease(device.kind, device.id, if: .absent, now: .now) else {
            return ([], [])
        }
        do {
            let hubs = try await placer.deleteStray(lease)
            _ = try await store.end(lease, .keep, now: .now)
            return hubs
        } catch {
            // If this fails too, the lease expires by itself.
            try? await store.expire(lease, now: .now)
            throw error
        }
    }
}
