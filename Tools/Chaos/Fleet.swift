import ChaosChecker
import Foundation
import NIOCore
import NIOHTTP1
import SecurePushCore
import StackKit
import Synchronization

/// The users' devices: woken by pushes, they fetch each ID once and show it once, as the SDK does; at the end they look
/// into their inboxes for what no push has told them.
final class Fleet: Sendable {
    struct Device: Sendable {
        let name: String
        let user: String
        let platform: String
        let handle: String
        let token: String
    }

    struct Job: Sendable, Hashable {
        let device: Int
        let id: NotificationID
    }

    private struct State {
        var seen: Set<Job> = []
        var waiting: [Job] = []
        var inFlight = 0
        var jobs = 0
        var shown = 0
    }

    private struct Reading: Decodable {
        let Payload: String
    }

    private struct Inbox: Decodable {
        struct Entry: Decodable {
            let Id: String
        }
        let Notifications: [Entry]
        let Next: String?
    }

    private static let workers = 16
    /// Every so many fetches somebody else tries to read the same notification.
    private static let probeInterval = 40

    private let stack: Stack
    private let history: HistoryWriter
    private let devices: [Device]
    private let byHandle: [String: Int]
    private let state = Mutex(State())

    init(stack: Stack, history: HistoryWriter) {
        (self.stack, self.history) = (stack, history)
        var generator = SplitMix(seed: stack.options.seed)
        let devices = (0..<stack.options.recipients).flatMap { number in
            let user = "user\(number)"
            let token = stack.secrets.token(of: user)
            return stack.options.platformNames.map { platform in
                Device(
                    name: "\(user)/\(platform)", user: user, platform: platform,
                    handle: DeviceHandle.make(platform, &generator), token: token)
            }
        }
        self.devices = devices
        byHandle = Dictionary(uniqueKeysWithValues: devices.enumerated().map { ($1.handle.lowercased(), $0) })
    }

    var shown: Int { state.withLock { $0.shown } }
    var isIdle: Bool { state.withLock { $0.waiting.isEmpty && $0.inFlight == 0 } }

    func name(of handle: String) -> String? { byHandle[handle.lowercased()].map { devices[$0].name } }

    /// Registers every device through retrieval, as the tutorial's clients do.
    func register() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, device) in devices.enumerated() {
                if number >= 8 { try await group.next() }
                group.addTask { try await self.register(device) }
            }
            try await group.waitForAll()
        }
    }

    private func register(_ device: Device) async throws {
        let port = stack.retrievals[0].port
        let handle = DeviceHandle.encoded(device.handle)
        let made = try await stack.http.send(
            .POST, port: port, "/api/register?handle=\(handle)", bearer: device.token)
        let id = try made.decoded(String.self)
        let platform = ["apple": "apns", "windows": "wns"][device.platform] ?? device.platform
        let put = try await stack.http.send(
            .PUT, port: port, "/api/register/\(DeviceHandle.encoded(id))", bearer: device.token,
            json: #"{"Platform":"\#(platform)","Handle":"\#(device.handle)","Tags":[]}"#)
        guard put.status == 200 else {
            throw Stack.NotStarted(description: "\(device.name) could not register: \(put.status)")
        }
        history.write(.device(.init(name: device.name, user: device.user, platform: device.platform)))
    }

    /// A push has reached a device.
    func wake(_ handle: String, _ id: NotificationID) {
        guard let device = byHandle[handle.lowercased()] else { return }
        state.withLock { state in
            let job = Job(device: device, id: id)
            if state.seen.insert(job).inserted { state.waiting.append(job) }
        }
    }

    /// Fetches until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.workers {
                group.addTask {
                    while !Task.isCancelled {
                        guard let (job, number) = self.take() else {
                            await pause(.milliseconds(20))
                            continue
                        }
                        await self.fetch(job, .push)
                        if number % Self.probeInterval == 0 { await self.probe(job) }
                        self.state.withLock { $0.inFlight -= 1 }
                    }
                }
            }
        }
    }

    private func take() -> (Job, Int)? {
        state.withLock { state in
            guard let job = state.waiting.popLast() else { return nil }
            state.inFlight += 1
            state.jobs += 1
            return (job, state.jobs)
        }
    }

    /// Reads until there is an answer that more tries would not change.
    private func fetch(_ job: Job, _ reason: HistoryEvent.Fetch.Reason) async {
        let device = devices[job.device]
        let deadline = ContinuousClock.now + .seconds(90)
        var status = 0
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let answer = try? await read(job.id, device.token)
            status = answer?.status ?? 0
            if let answer, status == 200 {
                let payload = try? answer.decoded(Reading.self).Payload
                note(device, job.id, reason, 200, payload.flatMap(stack.secrets.number))
                history.write(.show(.init(time: HistoryWriter.now, device: device.name, id: job.id.description)))
                state.withLock { $0.shown += 1 }
                return
            }
            if (400..<500).contains(status) && status != 429 { break }
            await pause(.milliseconds(200))
        }
        note(device, job.id, reason, status, nil)
    }

    private func probe(_ job: Job) async {
        let other = devices[(job.device + stack.options.platformNames.count) % devices.count]
        guard let answer = try? await read(job.id, other.token) else { return }
        let payload = try? answer.decoded(Reading.self).Payload
        note(other, job.id, .probe, answer.status, payload.flatMap(stack.secrets.number))
    }

    private func read(_ id: NotificationID, _ token: String) async throws -> LoopbackHTTP.Response {
        try await stack.http.send(port: stack.retrievals[0].port, "/api/notifications/\(id)", bearer: token)
    }

    private func note(
        _ device: Device, _ id: NotificationID, _ reason: HistoryEvent.Fetch.Reason, _ status: Int, _ number: Int?
    ) {
        history.write(
            .fetch(
                .init(
                    time: HistoryWriter.now, device: device.name, user: device.user, id: id.description,
                    reason: reason, status: status, number: number)))
    }

    /// Every device looks into its user's inbox, and shows what no push has told it of.
    func catchUp() async throws {
        let platforms = stack.options.platformNames.count
        for first in stride(from: 0, to: devices.count, by: platforms) {
            for id in try await inbox(devices[first].token) {
                for device in first..<first + platforms {
                    let job = Job(device: device, id: id)
                    if state.withLock({ $0.seen.insert(job).inserted }) { await fetch(job, .inbox) }
                }
            }
        }
    }

    private func inbox(_ token: String) async throws -> [NotificationID] {
        var ids: [NotificationID] = []
        var after: String?
        repeat {
            let query = after.map { "&After=\($0)" } ?? ""
            let answer = try await stack.http.send(
                port: stack.retrievals[0].port, "/api/notifications?Limit=200\(query)", bearer: token,
                timeout: .seconds(20))
            let page: Inbox = try answer.decoded()
            ids += page.Notifications.compactMap { NotificationID($0.Id) }
            after = page.Next
        } while after != nil && !Task.isCancelled
        return ids
    }
}

/// Handles in each platform's own form: an APNs device token, an FCM registration token, a WNS channel URI.
enum DeviceHandle {
    static func make(_ platform: String, _ generator: inout SplitMix) -> String {
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

    /// As one part of a URL (RFC 3986, section 2.3).
    static func encoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}
