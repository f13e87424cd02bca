import AsyncHTTPClient
import Foundation
import SecurePushClient
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import SecurePushCLI

/// Devices whose servers are away, refuse for a time, or go away.
@Suite(.timeLimit(.minutes(3))) struct DeviceFailureTests {
    private static let handle = "aa"

    /// A retrieval service that refuses the first registrations.
    private static func retrieval(
        refusals: Int, retryAfter: Int
    ) -> @Sendable (String, Int) -> ScriptedServer.Answer {
        let refused = Mutex(0)
        return { request, _ in
            guard request.hasPrefix("PUT /api/installations/") else { return Self.answer(to: request) }
            let isRefused = refused.withLock { count in
                count += 1
                return count <= refusals
            }
            return isRefused
                ? .init(status: 503, headers: ["Retry-After": "\(retryAfter)"]) : Self.answer(to: request)
        }
    }

    /// The form of a success, by which the SDK tells the service from a captive portal: a body for `GET` only, and 204
    /// for a removal.
    private static func answer(to request: String) -> ScriptedServer.Answer {
        .init(status: request.hasPrefix("DELETE ") ? 204 : 200, body: request.hasPrefix("GET ") ? "{}" : "")
    }

    private final class Events: Sendable {
        private let all = Mutex<[DeviceEvent]>([])
        var names: [DeviceEvent.Name] { all.withLock { $0.map(\.event) } }
        func add(_ event: DeviceEvent) { all.withLock { $0.append(event) } }
    }

    /// Registers a device whose SDK does not wait for these values of `Retry-After` itself.
    private func register(at url: String, _ events: Events, _ schedule: RetrySchedule) async throws {
        let retrieval = try APIClient(service: "retrieval", url: url, timeout: .seconds(30))
        var limits = ClientLimits()
        limits.secondsInTotal = 30
        let base = try SecurePushConfiguration(retrieval)
        let configuration = SecurePushConfiguration(
            retrievalURL: base.retrievalURL, refreshesPushKeys: false, limits: limits)
        let screen = DeviceScreen(handle: Self.handle, emulator: retrieval, countsPrompts: true) { _ in }
        let http = HTTPClientTransport.makeClient(connections: 2, to: url)
        let device = SimulatedDevice(
            user: "alice", channel: PushChannel(platform: .apple, handle: Self.handle, emulator: retrieval),
            logIn: .init(credentials: .bearer("t")), configuration: configuration, http: http, screen: screen,
            report: { events.add($0) })
        let result: Result<Void, any Error>
        do { result = .success(try await device.register(at: retrieval, schedule)) } catch { result = .failure(error) }
        try await http.shutdown()
        try result.get()
    }

    @Test func `A registration that is refused with 503 is tried again after its Retry-After`() async throws {
        try await ScriptedServer.with(Self.retrieval(refusals: 1, retryAfter: 31)) { server in
            let events = Events()
            let start = ContinuousClock.now
            let schedule = RetrySchedule(maxTries: 4, first: .milliseconds(1), longest: .milliseconds(2))
            try await register(at: server.url, events, schedule)
            #expect(events.names == [.waiting, .registered])
            #expect(ContinuousClock.now - start >= .seconds(31))
        }
    }

    @Test func `A registration that is refused again and again is given up`() async throws {
        try await ScriptedServer.with(Self.retrieval(refusals: .max, retryAfter: 31)) { server in
            let events = Events()
            let schedule = RetrySchedule(maxTries: 2, first: .milliseconds(1), longest: .milliseconds(2))
            let failure = await #expect(throws: CommandFailure.self) {
                try await register(at: server.url, events, schedule)
            }
            #expect(failure?.code == .unreachable && failure?.message.contains("503") == true)
            #expect(events.names == [.waiting])
        }
    }

    @Test(arguments: [["--platform", "apple"], ["--platform", "apple", "--devices", "3"]])
    func `Without the emulator nothing is registered, and the command ends`(arguments: [String]) async throws {
        try await ScriptedServer.with({ _, _ in .init() }) { retrieval in
            let run = try await CommandLineRun(
                ["device", "--user", "alice"] + arguments,
                [
                    "RETRIEVAL_URL": retrieval.url, "HUB_EMULATOR_URL": "http://127.0.0.1:1",
                    "RETRIEVAL_TOKEN": "t",
                ])
            #expect(run.code == 69, "\(run.errors)")
            #expect(run.errors.contains("gave up after 6 tries") && run.errors.contains("make up"))
            #expect(retrieval.requests == [])
        }
    }

    @Test func `A stream that never opens is given up, one that was open is not`() async throws {
        let isLost = Mutex(0)
        try await ScriptedServer.with({ _, _ in .init(status: 503) }) { server in
            let emulator = try APIClient(service: "hub-emulator", url: server.url, timeout: .seconds(30))
            let channel = PushChannel(platform: .apple, handle: Self.handle, emulator: emulator)
            let failure = await #expect(throws: CommandFailure.self) {
                try await channel.receive(opened: {}, lost: { _ in isLost.withLock { $0 += 1 } }, { _ in })
            }
            #expect(failure?.code == .unreachable && server.requests.count == 6)
        }
        // The first request gets a stream, which ends; all later ones are refused.
        try await ScriptedServer.with({ _, number in .init(status: number == 0 ? 200 : 503) }) { server in
            let emulator = try APIClient(service: "hub-emulator", url: server.url, timeout: .seconds(30))
            let channel = PushChannel(platform: .apple, handle: Self.handle, emulator: emulator)
            let task = Task { try await channel.receive(opened: {}, lost: { _ in }, { _ in }) }
            #expect(try await eventually { server.requests.count > 7 })
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM], [[], ["--devices", "2"], ["--keep"]])
    func `A signal ends the device and removes its installation`(signal: Int32, more: [String]) async throws {
        let server: @Sendable (String, Int) -> ScriptedServer.Answer = { request, _ in
            request.hasSuffix("/stream") ? .init(body: ": open\n\n", staysOpen: true) : Self.answer(to: request)
        }
        try await ScriptedServer.with(server) { server in
            try await withTemporaryFolder { folder in
                let device = try ProcessUnderTest(
                    "securepush", ["device", "--user", "alice", "--platform", "apple"] + more,
                    environment: [
                        "RETRIEVAL_URL": server.url, "HUB_EMULATOR_URL": server.url, "RETRIEVAL_TOKEN": "t",
                    ], folder: URL(filePath: folder))
                defer { device.kill() }
                let isListening = try await eventually { device.standardError.contains(" listening ") }
                #expect(isListening, "\(device.standardError)")
                kill(device.id, signal)
                #expect(try await device.exitCode() == 0, "\(device.standardError)")
                let made = Set(server.requests.filter { $0.hasPrefix("PUT ") }.map { $0.dropFirst(4) })
                let removed = Set(server.requests.filter { $0.hasPrefix("DELETE /api/") }.map { $0.dropFirst(7) })
                #expect(made.count == (more.first == "--devices" ? 2 : 1))
                #expect(removed == (more == ["--keep"] ? [] : made))
                #expect(!device.standardError.contains("be removed"))
            }
        }
    }
}
