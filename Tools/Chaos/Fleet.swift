import ChaosChecker
import Foundation
import SecurePushClient
import StackKit
import Synchronization

/// The users' devices: apps of the Swift SDK, woken by pushes. At the end they look into their inboxes, because some
/// pushes were lost.
final class Fleet: Sendable {
    private struct Job: Sendable {
        let device: Int
        let push: IncomingPush
    }

    private struct State {
        var waiting: [Job] = []
        /// The jobs before it are taken.
        var next = 0
        var inFlight = 0
        var jobs = 0
    }

    private static let workers = 48
    /// Every so many pushes somebody else tries to read the same notification.
    private static let probeInterval = 40

    private let stack: Stack
    private let history: HistoryWriter
    private let devices: [FleetDevice]
    private let byHandle: [String: Int]
    private let state = Mutex(State())

    /// - Throws: ``Stack/NotStarted``, `PushKeySet.Malformed`.
    init(stack: Stack, history: HistoryWriter) throws {
        (self.stack, self.history) = (stack, history)
        var generator = SeededGenerator(seed: stack.options.seed)
        var devices: [FleetDevice] = []
        for number in 0..<stack.options.recipients {
            let user = "user\(number)"
            if let own = stack.own {
                for (place, device) in own.services.devices[number].enumerated() {
                    devices.append(
                        try FleetDevice(user: user, device: device, place: place + 1, stack: stack, history: history))
                }
                continue
            }
            for platform in stack.options.platformNames {
                devices.append(
                    try FleetDevice(
                        user: user, platform: platform, handle: DeviceHandle.make(platform, &generator),
                        stack: stack, history: history))
            }
        }
        self.devices = devices
        byHandle = Dictionary(uniqueKeysWithValues: devices.enumerated().map { ($1.handle.lowercased(), $0) })
    }

    var shown: Int { devices.reduce(0) { $0 + $1.screen.shown } }
    var isIdle: Bool { state.withLock { $0.next == $0.waiting.count && $0.inFlight == 0 } }

    /// The devices that a hub has, and those that the push service holds alive, by their names.
    func names(of handles: some Sequence<String>) -> [String] { handles.map { name(of: $0) ?? $0 }.sorted() }

    func name(of handle: String) -> String? { byHandle[handle.lowercased()].map { devices[$0].name } }

    /// Registers every device through retrieval.
    func register() async throws {
        try await forEachDevice { device in
            do { try await device.register() } catch {
                throw Stack.NotStarted(description: "\(device.name) could not register: \(error)")
            }
            self.history.write(.device(.init(name: device.name, user: device.user, platform: device.platform)))
        }
    }

    /// A push, or a withdrawal, has reached a device.
    func wake(_ handle: String, _ body: String) {
        guard let index = byHandle[handle.lowercased()] else { return }
        let push = devices[index].push(body)
        state.withLock { $0.waiting.append(Job(device: index, push: push)) }
    }

    /// Handles pushes until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.workers {
                group.addTask {
                    while !Task.isCancelled {
                        guard let (job, number) = self.take() else {
                            await pause(.milliseconds(20))
                            continue
                        }
                        _ = await self.devices[job.device].client.handle(push: job.push)
                        if number % Self.probeInterval == 0 { await self.probe(job) }
                        self.state.withLock { $0.inFlight -= 1 }
                    }
                }
            }
        }
    }

    private func take() -> (Job, Int)? {
        state.withLock { state in
            guard state.next < state.waiting.count else { return nil }
            let job = state.waiting[state.next]
            state.next += 1
            if state.next >= 1024 {
                state.waiting.removeFirst(state.next)
                state.next = 0
            }
            state.inFlight += 1
            state.jobs += 1
            return (job, state.jobs)
        }
    }

    private func probe(_ job: Job) async {
        guard let id = job.push.id else { return }
        let other = devices[(job.device + stack.options.devicesOfUser) % devices.count]
        await other.probe(id)
    }

    /// Every device looks into its user's inbox, as an app does when it is opened, until nothing is left to show.
    func catchUp() async throws {
        try await forEachDevice { device in
            for _ in 0..<100 {
                try Task.checkCancellation()
                let report = await device.client.catchUp()
                if report.result == .noData || (report.shown.isEmpty && report.result != .failed) { return }
                if report.result == .failed { await pause(.milliseconds(300)) }
            }
        }
    }

    private func forEachDevice(_ body: @escaping @Sendable (FleetDevice) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, device) in devices.enumerated() {
                if number >= 8 { try await group.next() }
                group.addTask { try await body(device) }
            }
            try await group.waitForAll()
        }
    }
}

/// Handles in each platform's own form: an APNs device token, an FCM registration token, a WNS channel URI.
enum DeviceHandle {
    static func make(_ platform: String, _ generator: inout SeededGenerator) -> String {
        let token = (0..<4).map { _ in
            let text = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        return switch platform {
        case "apple": token.uppercased()
        case "windows": "https://db5.notify.windows.com/?token=\(token)"
        default: "\(token.prefix(22)):APA91b\(token)"
        }
    }
}
