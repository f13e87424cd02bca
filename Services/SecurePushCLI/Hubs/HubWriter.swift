import Domain
import Foundations

/// Changes devices at the hubs, several at once, for a refill and a rebalance.
struct HubWriter: Sendable {
    /// A device, and the operation on it.
    struct Item: Sendable {
        enum Work: Sendable {
            /// Whatever its hub has.
            case put
            /// Unless its hub has it. The other hubs keep it.
            case copy
            /// Unless its hub has it. The other hubs lose it.
            case move
            /// The device is not stored any more. Its user removed it while it was being copied.
            case delete
        }

        var device: DeviceReference
        var work: Work
        /// The device as it was read; ``Work/put`` needs it.
        var stored: StoredDevice?
    }

    let store: any Store
    let hubs: DevicePlacer.Hubs
    let concurrency: Int
    /// Devices per second; `nil` for no limit.
    var rate: Int?
    /// Whether a copy is all that may be done.
    var copyOnly = false
    /// The effect of the next run, as a sentence.
    let nextRun: String
    var stop = StopRequest()
    var pause: @Sendable (Duration) async throws -> Void

    private static let maxAttempts = 6

    /// - Parameter done: called after each device, with the reason if it failed.
    /// - Throws: ``CommandFailure`` if a hub is unreachable or refuses the credentials; ``StorageError``.
    func perform(_ items: [Item], done: (Item, String?) -> Void) async throws {
        let interval = rate.map { Duration.seconds(1) / $0 } ?? .zero
        var due = ContinuousClock.now
        try await withThrowingTaskGroup(of: (Item, String?).self) { group in
            var waiting = items.makeIterator()
            var running = 0
            while true {
                while running < concurrency, !stop.isRequested, let item = waiting.next() {
                    let now = ContinuousClock.now
                    if due > now { try await pause(now.duration(to: due)) }
                    due = max(due, now) + interval
                    group.addTask { (item, try await perform(item)) }
                    running += 1
                }
                guard let (item, failure) = try await group.next() else { return }
                running -= 1
                done(item, failure)
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
                failure = "the services are changing it"
            } catch let error as PushGatewayError {
                switch error.code {
                case .unauthorized: throw unauthorized(error)
                case .gone: return "the hub has deleted this ID; the device registers again when the app starts next"
                case .rejected: return "the hub refuses it (\(error.reason))"
                case .throttled, .unavailable:
                    guard attempt < Self.maxAttempts else { throw unreachable(error) }
                    try await pause(error.retryAfter ?? .seconds(1 << (attempt - 1)))
                    continue
                }
            }
            if attempt < Self.maxAttempts { try await pause(.milliseconds(500 * attempt)) }
        }
        return failure
    }

    /// With several hubs a device is changed under its lease, as by the services. Otherwise nobody would know of it at
    /// its new hub when its user removes it.
    ///
    /// - Returns: the hubs that have not deleted the device.
    private func performOnce(_ item: Item) async throws -> [String] {
        if case .single(let hub) = hubs {
            _ = try await item.stored?.withOwnTag.put(at: hub)
            return []
        }
        let placer = DevicePlacer(hubs, places: store)
        return try await store.withLease(of: item.device) { device, lease in
            var work = item.work
            if lease.isInDoubt, work == .copy {
                // A change of the services did not finish. A move brings all hubs to the state of the store, as the
                // services do; a copy does not.
                if copyOnly { throw DeviceIsBusy() }
                work = .move
            }
            switch (device, work) {
            case (let device?, .put): try await placer.put(device, lease)
            case (let device?, .copy): try await placer.copy(device, lease)
            case (let device?, .move): return try await placer.move(device, lease)
            // The user has removed it since it was read, or has registered it again.
            case (nil, .copy), (_?, .delete): break
            case (nil, .put), (nil, .move): try await placer.delete(lease)
            case (nil, .delete): return try await placer.deleteStray(lease).left
            }
            return []
        }
    }

    private func unauthorized(_ error: PushGatewayError) -> CommandFailure {
        let (hub, hint) =
            switch hubs {
            case .single: ("The", "Copy the connection string again, from a policy with Listen, Send and Manage.")
            case .pool: ("A", "`securepush doctor` checks each hub of the file.")
            }
        return CommandFailure(.configuration, "\(hub) hub refuses the credentials (\(error.reason)).", hint: hint)
    }

    private func unreachable(_ error: PushGatewayError) -> CommandFailure {
        let message =
            switch hubs {
            case .single: "The hub: \(error.reason)."
            case .pool: "A hub does not answer (\(error.reason))."
            }
        return CommandFailure(.unreachable, message, hint: "Run the command again. \(nextRun)")
    }
}

/// A service holds the device's lease, or the hub may differ from the store.
struct DeviceIsBusy: Error {}

extension Store {
    /// Runs a closure with the lease of a device. The store keeps the device as it is.
    ///
    /// - Parameter body: gets the device as it is stored, or `nil` if it is not stored any more.
    /// - Throws: ``DeviceIsBusy`` if another request holds the lease, ``StorageError``, and the errors of `body`.
    func withLease<Value>(
        of device: DeviceReference, _ body: (StoredDevice?, DeviceLease) async throws -> Value
    ) async throws -> Value {
        guard case .leased(let lease) = try await lease(device.kind, device.id, if: .any, now: .now) else {
            throw DeviceIsBusy()
        }
        do {
            let stored: StoredDevice? =
                switch device.kind {
                case .installation: try await installation(device.id).map(StoredDevice.installation)
                case .registration: try await registration(device.id).map(StoredDevice.registration)
                }
            let value = try await body(stored, lease)
            _ = try await end(lease, .keep, now: .now)
            return value
        } catch let error as PushGatewayError where !lease.isInDoubt {
            // The places have the devices whose state is unknown now.
            _ = try await end(lease, .keep, now: .now)
            throw error
        } catch {
            // If this fails too, the lease expires by itself.
            try? await expire(lease, now: .now)
            throw error
        }
    }
}

extension StoredDevice {
    var reference: DeviceReference {
        switch self {
        case .installation(let installation): DeviceReference(kind: .installation, id: installation.id)
        case .registration(let registration): DeviceReference(kind: .registration, id: registration.id)
        }
    }

    /// Pushes address the user's own tag, so a registration has it in any case.
    fileprivate var withOwnTag: StoredDevice {
        guard case .registration(var registration) = self, !registration.tags.contains(owner.tag) else { return self }
        registration.tags.append(owner.tag)
        return .registration(registration)
    }

    fileprivate func put(at hub: any DevicePlacer.Hub) async throws { _ = try await hub.put(self, reference.id) }
}

extension PushGatewayError {
    /// The message without the hub's own text, which can contain the device's handle.
    var reason: String { String(message.prefix { $0 != ":" }) }
}
