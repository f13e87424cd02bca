import AsyncHTTPClient
import Foundation
import SecurePushClient
import SecurePushCore
import Synchronization

/// The simulated devices of a load test: apps of the Swift SDK. Each belongs to one recipient, listens to its push
/// channel at the hub emulator, and handles the pushes one after the other.
struct LoadDevices: Sendable {
    struct Device: Sendable {
        let channel: PushChannel
        let device: PushDevice
        let client: SecurePushClient
    }

    let devices: [Device]
    let measurements: LoadMeasurements
    let retrieval: APIClient
    private let connected = Counter()

    private final class Counter: Sendable {
        let value = Atomic<Int>(0)
    }

    /// A device's user, platform and credentials.
    struct Owner: Sendable {
        var user: String
        var platform: DevicePlatform
        var credentials: ClientCredentials
    }

    /// - Parameters:
    ///   - http: the connections of all devices.
    ///   - payload: the payload of every notification of this test.
    /// - Throws: ``CommandFailure`` if the URL of retrieval cannot be used.
    init(
        _ owners: [Owner], retrieval: APIClient, emulator: APIClient, http: HTTPClient, payload: String,
        measurements: LoadMeasurements
    ) throws {
        let configuration = try SecurePushConfiguration(retrieval)
        devices = owners.map { owner in
            let handle = owner.platform.makeHandle()
            return Device(
                channel: PushChannel(platform: owner.platform, handle: handle, emulator: emulator),
                device: PushDevice(platform: owner.platform.clientPlatform, channel: handle),
                client: SecurePushClient(
                    configuration: configuration,
                    credentials: FixedCredentialsProvider(userName: owner.user, credentials: owner.credentials),
                    store: MemoryClientStore(), transport: HTTPClientTransport(http: http),
                    presenter: LoadScreen(payload: payload, measurements: measurements)))
        }
        self.measurements = measurements
        self.retrieval = retrieval
    }

    /// Registers all devices, like their apps.
    func register() async throws {
        try await DeviceFleet.forEach(devices) { try await $0.client.register($0.device, at: retrieval) }
    }

    /// Removes the devices from the server. Ignores errors, because the test is over.
    func unregister() async {
        try? await DeviceFleet.forEach(devices) { try? await $0.client.unregister() }
    }

    /// Returns early after a stop request.
    ///
    /// - Throws: ``CommandFailure`` with code `unreachable` if a device has no push channel within 30 s.
    func waitUntilConnected(_ stop: StopRequest) async throws {
        let quiet = Quiet(limit: .seconds(30))
        while connected.value.load(ordering: .relaxed) < devices.count, !stop.isRequested {
            if quiet.isOver {
                throw CommandFailure(.unreachable, "The hub emulator did not open all push channels within 30 s.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the devices have shown everything accepted for their users, or the drain timeout expires.
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
        // Reads the channel without delay; only pushes wait here.
        let (pushes, feed) = AsyncStream.makeStream(of: IncomingPush.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await device.channel.receive {
                    connected.value.add(1, ordering: .relaxed)
                } lost: { _ in
                    measurements.update { $0.reads.lostChannels += 1 }
                } _: {
                    feed.yield($0.push)
                }
            }
            var seen: Set<PushID> = []
            for await push in pushes {
                if let id = push.id, !push.isWithdrawal, !seen.insert(id).inserted {
                    measurements.update { $0.reads.repeated += 1 }
                }
                _ = await device.client.handle(push: push)
            }
            try await group.waitForAll()
        }
    }
}

/// The screen of a load test's device: measures when a payload is there.
struct LoadScreen: NotificationPresenter {
    /// The payload of every notification of this test.
    let payload: String
    let measurements: LoadMeasurements

    func show(_ secret: SecretNotification) async {
        let now = Timestamp.now
        // Another test or sender may send to the same user.
        guard secret.text == payload, let id = NotificationID(secret.id.rawValue) else { return }
        measurements.noteRead(id, latency: now - id.timestamp)
    }

    func show(_ notice: GenericNotice) async { note([notice.id], notice.code) }
    func show(_ prompt: LogInPrompt) async { note(prompt.ids, prompt.code) }

    private func note(_ ids: [PushID?], _ code: DiagnosticCode) {
        let ids = ids.compactMap { $0.flatMap { NotificationID($0.rawValue) } }
        measurements.update { state in
            for id in ids { state.reads.fail(id, code.rawValue) }
        }
    }

    func remove(_ ids: [PushID]) async {}
    func removePrompt() async {}
    func setBadge(_ count: Int) async {}
    func displayedSecrets() async -> Set<PushID>? { nil }
}
