import NIOCore
import SecurePushCore
import Synchronization

/// The simulated devices of a load test: each belongs to one recipient, listens to its push channel at the hub
/// emulator, and reads what it is woken for, one after the other as an app does.
struct LoadDevices: Sendable {
    /// How many are registered at once.
    static let registrationsAtOnce = 16

    struct Device: Sendable {
        var platform: DevicePlatform
        var handle: String
        /// Its user's credentials.
        var authorization: String
    }

    let devices: [Device]
    let retrieval: APIClient
    let emulator: APIClient
    /// What every notification of this test carries.
    let payload: String
    let ledger: LoadLedger
    private let progress = Progress()

    /// What the devices have come to, shared by their tasks.
    private final class Progress: Sendable {
        let registrations = Mutex<[(device: Int, id: String)]>([])
        let connected = Atomic<Int>(0)
    }

    /// Gives out numbers from 0.
    private final class Turn: Sendable {
        private let next = Atomic<Int>(0)
        func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
    }

    init(
        devices: [Device], retrieval: APIClient, emulator: APIClient, payload: String, ledger: LoadLedger
    ) {
        self.devices = devices
        self.retrieval = retrieval
        self.emulator = emulator
        self.payload = payload
        self.ledger = ledger
    }

    /// Registers all, as apps do.
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

    /// Takes back what was registered; what cannot be is left, for the test is over.
    func unregister() async {
        let registrations = progress.registrations.withLock { $0 }
        try? await forAll(of: registrations.count) { index in
            let (device, id) = registrations[index]
            _ = try? await retrieval.send(
                .delete, "/api/register/\(id.urlEncoded)", authorization: devices[device].authorization)
        }
    }

    /// Waits until every device hears its channel.
    func connected() async throws {
        let quiet = Quiet(limit: .seconds(30))
        while progress.connected.load(ordering: .relaxed) < devices.count {
            if quiet.isOver {
                throw CommandFailure(.unreachable, "The hub emulator did not open the devices' channels within 30 s.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the devices have read what was accepted for their users, or nothing has come for a while.
    func finished(_ stop: StopRequest) async throws {
        var quiet = Quiet(limit: ledger.plan.drainTimeout)
        var last = 0
        while !stop.isRequested {
            let (missing, done) = ledger.update { ($0.reads.missing, $0.reads.latency.count) }
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
        // The channel is read at once, so that the push service need not hold it back; only IDs wait here.
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
                try await emulator.stream("/emulator/devices/\(device.handle.urlEncoded)/stream") {
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
                ledger.update { $0.reads.failures["push channel lost", default: 0] += 1 }
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func fetch(_ id: NotificationID, _ device: Device) async {
        let result: Result<APIAnswer, any Error>
        do {
            result = .success(
                try await retrieval.send(.get, "/api/notifications/\(id)", authorization: device.authorization))
        } catch {
            result = .failure(error)
        }
        let now = Timestamp.now
        guard !Task.isCancelled else { return }
        let reading = LoadReading(result, payload: payload)
        ledger.update { $0.reads.note(reading, latency: now - id.timestamp) }
    }

    /// Does something for every device, a few at once.
    private func forAll(of count: Int? = nil, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let count = count ?? devices.count
        let turn = Turn()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(count, LoadDevices.registrationsAtOnce) {
                group.addTask {
                    while case let index = turn.take(), index < count { try await body(index) }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// What a simulated device got when it fetched a payload.
enum LoadReading: Sendable, Equatable {
    /// The payload as it was sent, for the first time.
    case read
    /// The payload, which this device has had before: its push came twice.
    case repeated
    /// Something of another test or sender.
    case foreign
    case failed(String)

    private struct Answer: Decodable {
        var Payload: String
        var Read: Bool
    }

    init(_ result: Result<APIAnswer, any Error>, payload: String) {
        switch result {
        case .failure(let error): self = .failed(CommandFailure(describing: error).message)
        case .success(let answer) where answer.status != 200: self = .failed("\(answer.status)")
        case .success(let answer):
            guard let read = try? JSONText.decode(Answer.self, from: answer.body) else {
                self = .foreign
                return
            }
            self = read.Payload != payload ? .foreign : read.Read ? .repeated : .read
        }
    }
}

extension ReadFigures {
    /// - Parameter latency: since the notification was accepted, by the time in its ID.
    mutating func note(_ reading: LoadReading, latency passed: Duration) {
        switch reading {
        case .read: latency.record(passed.microseconds)
        case .repeated: repeated += 1
        case .foreign: break
        case .failed(let reason): failures[reason, default: 0] += 1
        }
    }
}
