import ChaosChecker
import Domain
import Foundation
import Foundations
import NIOCore
import NIOHTTP1
import StackKit
import Synchronization

/// Follows the hub's log, copies its records to the history, and wakes the devices that received a push.
final class HubWatch: Sendable {
    private struct Crossing: Decodable {
        let Sequence: Int
        let Kind: String
        let Platform: String?
        let Body: String
        let ReceivedAt: String
        let Accepted: Bool
        let Status: Int?
        let Fault: String?
        let Deliveries: [String]
    }

    private static let page = 500

    private let stack: Stack
    private let history: HistoryWriter
    private let fleet: Fleet
    private let needles: Needles
    private let state = Mutex((last: 0, leaks: 0, bytes: 0))
    private let unanswered = Atomic<Int>(0)
    /// The pushes that the hub took, without those that were withdrawn since.
    private let standing = Mutex<Set<Standing>>([])

    private struct Standing: Hashable {
        let id: NotificationID
        let platform: String?
    }

    init(stack: Stack, history: HistoryWriter, fleet: Fleet) {
        (self.stack, self.history, self.fleet) = (stack, history, fleet)
        needles = Needles(marker: stack.secrets.marker)
    }

    /// How many sends the hub has neither taken nor answered, as far as the log was read.
    var unansweredSends: Int { unanswered.load(ordering: .relaxed) }

    /// Reads until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let count = (try? await readPage()) ?? 0
            if count < Self.page { await pause(.milliseconds(100)) }
        }
    }

    /// Reads until nothing has crossed the hub for a while, or the time is up.
    func awaitQuiet(_ quiet: Duration, within limit: Duration) async throws {
        var (last, since) = (-1, ContinuousClock.now)
        try await read(within: limit) {
            let sequence = state.withLock { $0.last }
            if sequence != last { (last, since) = (sequence, .now) }
            return ContinuousClock.now - since >= quiet
        }
    }

    /// Reads until everything that the hub took is withdrawn, or the time is up.
    func awaitWithdrawals(within limit: Duration) async throws {
        try await read(within: limit) { standing.withLock { $0.isEmpty } }
    }

    /// Reads until a condition holds at the end of the log, or the time is up.
    private func read(within limit: Duration, until isDone: () -> Bool) async throws {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            try Task.checkCancellation()
            if try await readPage() == Self.page { continue }
            if isDone() { return }
            await pause(.milliseconds(100))
        }
    }

    /// Reads the rest of the log, and writes the findings in the whole log.
    func finish() async throws {
        while try await readPage() == Self.page {}
        let (_, leaks, bytes) = state.withLock { $0 }
        history.write(.leak(.init(place: "hub records", found: leaks, searchedBytes: bytes)))
    }

    private func readPage() async throws -> Int {
        let last = state.withLock { $0.last }
        let answer = try await stack.http.send(
            port: stack.emulator.port, "/emulator/messages?After=\(last)&Limit=\(Self.page)", timeout: .seconds(20))
        let crossings: [Crossing] = try answer.decoded()
        let found = needles.occurrences(in: answer.bytes)
        state.withLock { state in
            state.leaks += found
            state.bytes += answer.bytes.count
        }
        for crossing in crossings { take(crossing) }
        return crossings.count
    }

    private func take(_ crossing: Crossing) {
        let last = state.withLock { state in
            defer { state.last = max(state.last, crossing.Sequence) }
            return state.last
        }
        // `finish` may come while another page is being read.
        guard crossing.Sequence > last else { return }
        if crossing.Sequence > last + 1 {
            history.write(.gap(.init(after: last, missing: crossing.Sequence - last - 1)))
        }
        guard ["send", "direct", "batch", "scheduled"].contains(crossing.Kind) else { return }
        let id = Self.id(in: crossing.Body)
        let withdraws = Self.withdraws(crossing.Body)
        history.write(
            .hub(
                .init(
                    time: Timestamp(rfc3339: crossing.ReceivedAt)?.milliseconds ?? HistoryWriter.now,
                    sequence: crossing.Sequence, platform: crossing.Platform ?? "", id: id?.description,
                    accepted: crossing.Accepted, status: crossing.Status, fault: crossing.Fault,
                    devices: crossing.Deliveries.map { fleet.name(of: $0) ?? $0 },
                    withdraws: withdraws ? true : nil)))
        if crossing.Fault == "no answer" { unanswered.add(1, ordering: .relaxed) }
        guard crossing.Accepted else { return }
        if let id {
            let entry = Standing(id: id, platform: crossing.Platform)
            standing.withLock { if withdraws { $0.remove(entry) } else { $0.insert(entry) } }
        }
        for handle in crossing.Deliveries { fleet.wake(handle, crossing.Body) }
    }

    /// The ID that a native body names: of Apple's and Google's in `secureId`, of Windows' the body's first word.
    static func id(in body: String) -> NotificationID? {
        if let id = NotificationID(body.prefix { $0 != " " }) { return id }
        guard let range = body.range(of: #""secureId":""#) else { return nil }
        return NotificationID(body[range.upperBound...].prefix(36))
    }

    /// Whether a native body takes a notification back instead of telling of one.
    static func withdraws(_ body: String) -> Bool {
        body.contains(#""withdraw":"1""#) || body.dropFirst(36).hasPrefix(" withdraw")
    }
}
