import NIOCore
import SecurePushCore

/// A device of a user: listens to its push channel at the hub emulator, fetches what it is woken for, and shows it.
struct SimulatedDevice: Sendable {
    var platform: DevicePlatform
    var handle: String
    /// What it fetches with; `nil` when nobody is logged in.
    var authorization: String?
    var retrieval: APIClient
    var emulator: APIClient
    var tell: @Sendable (DeviceEvent) -> Void

    private struct Display: Encodable {
        var Id: String
        var Text: String
        var Kind: DeviceStateMachine.Shown.Kind
    }

    /// Listens until `limit` notifications were shown, or for ever; connects again whenever the stream breaks.
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
                // A refusal will not heal by itself; a channel that is away may come back.
                if failure.code != .unreachable && failure.code != .failed { throw failure }
                tell(DeviceEvent(event: .disconnected, platform: platform.rawValue, reason: failure.message))
            }
            if isDone(machine, limit) { return }
            try await Task.sleep(for: delay * Double.random(in: 0.5...1))
            delay = min(delay * 2, .seconds(5))
        }
    }

    private func isDone(_ machine: DeviceStateMachine, _ limit: Int?) -> Bool {
        limit.map { machine.shown >= $0 } ?? false
    }

    /// One connection of the push channel, to its end or to the last notification wanted.
    private func listen(_ machine: inout DeviceStateMachine, _ limit: Int?, opened: () -> Void) async throws {
        struct Finished: Error {}
        var events = ServerSentEvents()
        var current = machine
        defer { machine = current }
        do {
            try await emulator.stream("/emulator/devices/\(handle.urlEncoded)/stream") {
                opened()
                tell(DeviceEvent(event: .listening, platform: platform.rawValue, text: handle))
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
            tell(
                DeviceEvent(event: .received, platform: platform.rawValue, id: push.id.description, kind: push.kind))
        }
        var action = machine.receive(push)
        if case .fetch(let id) = action { action = machine.finish(id, try await fetch(id)) }
        switch action {
        case .show(let shown): await show(shown)
        case .ignore(let id, let reason):
            tell(DeviceEvent(event: .ignored, platform: platform.rawValue, id: id?.description, reason: reason))
        case .fetch: break
        }
    }

    private func fetch(_ id: NotificationID) async throws -> DeviceStateMachine.FetchResult {
        do {
            let answer = try await retrieval.send(.get, "/api/notifications/\(id)", authorization: authorization)
            return DeviceStateMachine.FetchResult(answer)
        } catch let failure as CommandFailure {
            return .failed(failure.message)
        }
    }

    private func show(_ shown: DeviceStateMachine.Shown) async {
        tell(
            DeviceEvent(
                event: .shows, platform: platform.rawValue, id: shown.id.description, text: shown.text,
                kind: shown.kind.rawValue, reason: shown.reason))
        // For the emulator's page only; a device works without it.
        let display = Display(Id: shown.id.description, Text: shown.text, Kind: shown.kind)
        guard let json = try? JSONText.encode(display) else { return }
        _ = try? await emulator.send(.post, "/emulator/devices/\(handle.urlEncoded)/display", json: json)
    }
}

extension DeviceStateMachine.FetchResult {
    init(_ answer: APIAnswer) {
        switch answer.status {
        case 200:
            guard let payload = JSONText.member("Payload", of: answer.body) else {
                self = .failed("the answer holds no payload")
                return
            }
            self = .payload(JSONText.string(payload) ?? payload)
        case 401, 403: self = .refused(status: answer.status)
        case 404, 410: self = .gone(status: answer.status)
        default: self = .failed("the server answered \(answer.status)")
        }
    }
}

/// Registers a device as the tutorial's clients do: an ID by POST, platform and handle by PUT, and once more from the
/// start when the hub has given up the ID (410).
struct DeviceRegistration: Sendable {
    var platform: DevicePlatform
    var handle: String
    var authorization: String
    var retrieval: APIClient

    private struct Body: Encodable {
        var Platform: String
        var Handle: String
        var Tags: [String] = []
    }

    /// - Returns: the registration's ID.
    func run() async throws -> String {
        let first = try await newID()
        let answer = try await put(first)
        if answer.isSuccess { return first }
        guard answer.status == 410 else { throw ProblemDocument.failure(answer, from: retrieval.service) }
        let second = try await newID()
        let again = try await put(second)
        guard again.isSuccess else { throw ProblemDocument.failure(again, from: retrieval.service) }
        return second
    }

    private func newID() async throws -> String {
        let answer = try await retrieval.send(
            .post, "/api/register?handle=\(handle.urlEncoded)", authorization: authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: retrieval.service) }
        guard let id = JSONText.string(answer.body), !id.isEmpty else {
            throw CommandFailure(.failed, "retrieval's answer to the registration holds no ID")
        }
        return id
    }

    private func put(_ id: String) async throws -> APIAnswer {
        let body = try JSONText.encode(Body(Platform: platform.registrationName, Handle: handle))
        return try await retrieval.send(
            .put, "/api/register/\(id.urlEncoded)", authorization: authorization, json: body)
    }
}
