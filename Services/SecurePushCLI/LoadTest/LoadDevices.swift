import NIOCore
import SecurePushCore
import Synchronization

/// The simulated devices of a load test. Each belongs to one recipient, listens to its push channel at the hub
/// emulator, and reads the notifications of the pushes one after the other, like an app.
struct LoadDevices: Sendable {
    /// Concurrent registrations.
    static let maxRegistrations = 16

    struct Device: Sendable {
        var platform: DevicePlatform
        var handle: String
        /// With the credentials of its user.
        var authorization: String
    }

    let devices: [Device]
    let retrieval: APIClient
    let emulator: APIClient
    /// The payload of every notification of this test.
    let payload: String
    let measurements: LoadMeasurements
    private let progress = Progress()

    /// The state that the devices' tasks share.
    private final class Progress: Sendable {
        let registrations = Mutex<[(device: Int, id: String)]>([])
        let connected = Atomic<Int>(0)
    }

    /// Registers all devices, like their apps.
    func register() async throws {
        try await forAll { index in
            let device = devices[index]
            let registration = DeviceRegistration(
                platform: device.platform, handle: device.handle, authorization: device.authorization,
                retrieval: retrieval)
            let id = try await registration.run()
            progress.registrations.withLock { $0.append((index, id)) }
        }
    }

    /// Deletes the registrations. Ignores errors, because the test is over.
    func unregister() async {
        let registrations = progress.registrations.withLock { $0 }
        try? await forAll(of: registrations.count) { index in
            let (device, id) = registrations[index]
            _ = try? await retrieval.send(
                .delete, "/api/register/\(PercentCoding.encode(id))", authorization: devices[device].authorization)
        }
    }

    /// - Throws: ``CommandFailure`` with code `unreachable` if a device has no push channel within 30 s.
    func waitUntilConnected() async throws {
        let quiet = Quiet(limit: .seconds(30))
        while progress.connected.load(ordering: .relaxed) < devices.count {
            if quiet.isOver {
                throw CommandFailure(.unreachable, "The hub emulator did not open all push channels within 30 s.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the devices have read everything accepted for their users, or the drain timeout expires.
    func waitUntilRead(_ stop: StopRequest) async throws {
        var quiet = Quiet(limit: measurements.plan.drainTimeout)
        var last = 0
        while !stop.isRequested {
            let (missing, done) = measurements.update { ($0.reads.missing, $0.reads.latency.count) }
            if missing == 0 || quiet.isOver { return }
            if done > last {
                last = done
                quiet.reset()
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Listens until cancelled.
    func listen() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await listen(device) } }
            try await group.waitForAll()
        }
    }

    private func listen(_ device: Device) async throws {
        // Reads the channel without delay; only IDs wait here.
        let (pushes, continuation) = AsyncStream.makeStream(of: NotificationID.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await receive(device) { continuation.yield($0) }
            }
            for await id in pushes { await fetch(id, device) }
            try await group.waitForAll()
        }
    }

    private func receive(_ device: Device, _ take: @escaping (NotificationID) -> Void) async throws {
        while !Task.isCancelled {
            var events = ServerSentEvents()
            do {
                try await emulator.stream("/emulator/devices/\(PercentCoding.encode(device.handle))/stream") {
                    progress.connected.add(1, ordering: .relaxed)
                } _: { buffer in
                    for event in events.feed(buffer.readableBytesView) {
                        guard let body = PushEvent.body(of: event),
                            let push = NativePush(platform: device.platform, body: body)
                        else { continue }
                        take(push.id)
                    }
                }
            } catch {
                if Task.isCancelled { return }
                measurements.update { $0.reads.failures["push channel lost", default: 0] += 1 }
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func fetch(_ id: NotificationID, _ device: Device) async {
        let result: Result<APIResponse, any Error>
        do {
            result = .success(
                try await retrieval.send(.get, "/api/notifications/\(id)", authorization: device.authorization))
        } catch {
            result = .failure(error)
        }
        let now = Timestamp.now
        guard !Task.isCancelled else { return }
        let reading = LoadReading(result, payload: payload)
        measurements.update { $0.reads.note(reading, latency: now - id.timestamp) }
    }

    /// Runs a closure for every device, a few of them concurrently.
    private func forAll(of count: Int? = nil, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<(count ?? devices.count) {
                if index >= LoadDevices.maxRegistrations { _ = try await group.next() }
                group.addTask { try await body(index) }
            }
            try await group.waitForAll()
        }
    }
}

/// The result of a simulated device's fetch.
enum LoadReading: Sendable, Equatable {
    /// The payload of this test, for the first time.
    case read
    /// The payload again: its push came twice.
    case repeated
    /// The payload of another test or sender.
    case foreign
    case failed(String)

    private struct Response: Decodable {
        var payload: String
        var read: Bool

        private enum CodingKeys: String, CodingKey { case payload = "Payload", read = "Read" }
    }

    init(_ result: Result<APIResponse, any Error>, payload: String) {
        switch result {
        case .failure(let error): self = .failed(CommandFailure(describing: error).message)
        case .success(let response) where response.status != 200: self = .failed("\(response.status)")
        case .success(let response):
            guard let read = try? JSONCoding.decode(Response.self, from: response.body) else {
                self = .foreign
                return
            }
            self = read.payload != payload ? .foreign : read.read ? .repeated : .read
        }
    }
}

extension ReadFigures {
    /// - Parameter passed: the time since the notification was accepted, by the time in its ID.
    mutating func note(_ reading: LoadReading, latency passed: Duration) {
        switch reading {
        case .read: latency.record(passed)
        case .repeated: repeated += 1
        case .foreign: break
        case .failed(let reason): failures[reason, default: 0] += 1
        }
    }
}
