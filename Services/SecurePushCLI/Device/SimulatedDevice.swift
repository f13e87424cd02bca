import NIOCore
import SecurePushCore

/// A user's device: listens to its push channel at the hub emulator, fetches the payload of each push, and shows it.
struct SimulatedDevice: Sendable {
    var platform: DevicePlatform
    var handle: String
    /// The value of `Authorization` for fetching; `nil` if nobody is logged in.
    var authorization: String?
    var retrieval: APIClient
    var emulator: APIClient
    var report: @Sendable (DeviceEvent) -> Void

    private struct Display: Encodable {
        var id: String
        var text: String
        var kind: DeviceStateMachine.Shown.Kind

        private enum CodingKeys: String, CodingKey { case id = "Id", text = "Text", kind = "Kind" }
    }

    /// Listens until it has shown `limit` notifications, or forever if `nil`. Reconnects if the stream breaks.
    func run(until limit: Int?) async throws {
        var machine = DeviceStateMachine(hasCredentials: authorization != nil)
        var delay = Duration.milliseconds(200)
        while !isDone(machine, limit) {
            do {
                try await listen(&machine, limit) { delay = .milliseconds(200) }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                let failure = CommandFailure(describing: error)
                // Retries unless the command line or the settings are wrong.
                if failure.code != .unreachable && failure.code != .failed { throw failure }
                report(DeviceEvent(event: .disconnected, platform: platform.rawValue, reason: failure.message))
            }
            if isDone(machine, limit) { return }
            try await Task.sleep(for: delay * Double.random(in: 0.5...1))
            delay = min(delay * 2, .seconds(5))
        }
    }

    private func isDone(_ machine: DeviceStateMachine, _ limit: Int?) -> Bool {
        limit.map { machine.shown >= $0 } ?? false
    }

    /// Listens on one connection until it ends or the limit is reached.
    private func listen(_ machine: inout DeviceStateMachine, _ limit: Int?, opened: () -> Void) async throws {
        struct Finished: Error {}
        var events = ServerSentEvents()
        var current = machine
        defer { machine = current }
        do {
            try await emulator.stream("/emulator/devices/\(PercentCoding.encode(handle))/stream") {
                opened()
                report(DeviceEvent(event: .listening, platform: platform.rawValue, text: handle))
            } _: { buffer in
                for event in events.feed(buffer.readableBytesView) {
                    try await handle(event, &current)
                    if isDone(current, limit) { throw Finished() }
                }
            }
        } catch is Finished {}
    }

    private func handle(_ event: ServerSentEvents.Event, _ machine: inout DeviceStateMachine) async throws {
        guard let body = PushEvent.body(of: event) else { return }
        let push = NativePush(platform: platform, body: body)
        if let push {
            report(
                DeviceEvent(event: .received, platform: platform.rawValue, id: push.id.description, kind: push.kind))
        }
        var action = machine.receive(push)
        if case .fetch(let id) = action { action = machine.finish(id, try await fetch(id)) }
        switch action {
        case .show(let shown): await show(shown)
        case .ignore(let id, let reason):
            report(DeviceEvent(event: .ignored, platform: platform.rawValue, id: id?.description, reason: reason))
        case .fetch: break
        }
    }

    private func fetch(_ id: NotificationID) async throws -> DeviceStateMachine.FetchResult {
        do {
            return DeviceStateMachine.FetchResult(
                try await retrieval.send(.get, "/api/notifications/\(id)", authorization: authorization))
        } catch let failure as CommandFailure {
            return .failed(failure.message)
        }
    }

    private func show(_ shown: DeviceStateMachine.Shown) async {
        report(
            DeviceEvent(
                event: .shows, platform: platform.rawValue, id: shown.id.description, text: shown.text,
                kind: shown.kind.rawValue, reason: shown.reason))
        // Only for the emulator's page, so errors are ignored.
        let display = Display(id: shown.id.description, text: shown.text, kind: shown.kind)
        guard let json = try? JSONCoding.encode(display) else { return }
        _ = try? await emulator.send(.post, "/emulator/devices/\(PercentCoding.encode(handle))/display", json: json)
    }
}

extension DeviceStateMachine.FetchResult {
    init(_ response: APIResponse) {
        switch response.status {
        case 200:
            guard let payload = JSONCoding.member("Payload", of: response.body) else {
                self = .failed("the response has no payload")
                return
            }
            self = .payload(payload)
        case 401, 403: self = .refused(status: response.status)
        case 404, 410: self = .gone(status: response.status)
        default: self = .failed("the server answered \(response.status)")
        }
    }
}

/// Registers a device like the tutorial's clients: gets an ID with POST, sends platform and handle with PUT, and starts
/// over once if the hub has deleted the ID (410).
struct DeviceRegistration: Sendable {
    var platform: DevicePlatform
    var handle: String
    var authorization: String
    var retrieval: APIClient

    private struct Body: Encodable {
        var platform: String
        var handle: String
        var tags: [String] = []

        private enum CodingKeys: String, CodingKey { case platform = "Platform", handle = "Handle", tags = "Tags" }
    }

    /// - Returns: the registration's ID.
    func run() async throws -> String {
        let first = try await newID()
        let response = try await put(first)
        if response.isSuccess { return first }
        guard response.status == 410 else { throw ProblemDocument.failure(response, from: retrieval.service) }
        let second = try await newID()
        let repeated = try await put(second)
        guard repeated.isSuccess else { throw ProblemDocument.failure(repeated, from: retrieval.service) }
        return second
    }

    private func newID() async throws -> String {
        let response = try await retrieval.request(
            .post, "/api/register?handle=\(PercentCoding.encode(handle))", authorization: authorization)
        guard let id = JSONValue(text: response.body)?.text, !id.isEmpty else {
            throw CommandFailure(.failed, "The response of retrieval to the registration has no ID.")
        }
        return id
    }

    private func put(_ id: String) async throws -> APIResponse {
        let body = try JSONCoding.encode(Body(platform: platform.registrationName, handle: handle))
        return try await retrieval.send(
            .put, "/api/register/\(PercentCoding.encode(id))", authorization: authorization, json: body)
    }
}
