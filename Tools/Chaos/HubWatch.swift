import ChaosChecker
import Domain
import Foundation
import StackKit
import Synchronization

/// Follows the records of the backend, copies them to the history, and wakes the devices that received a push.
final class HubWatch: Sendable {
    private let backend: any PushBackend
    private let history: HistoryWriter
    private let fleet: Fleet
    private let needles: Needles
    private let state = Mutex((last: 0, leaks: 0, bytes: 0))
    private let unanswered = Atomic<Int>(0)
    /// The pushes that the hub took, without those that were withdrawn since.
    private let standing = Mutex<Set<Standing>>([])

    private struct Standing: Hashable {
        let id: NotificationID
        let audience: String
    }

    init(stack: Stack, history: HistoryWriter, fleet: Fleet) {
        (backend, self.history, self.fleet) = (stack.backend, history, fleet)
        needles = Needles(marker: stack.secrets.marker)
    }

    /// How many requests the backend has neither taken nor answered, as far as its records were read.
    var unansweredSends: Int { unanswered.load(ordering: .relaxed) }

    /// Reads until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let isFull = (try? await readPage()) ?? false
            if !isFull { await pause(.milliseconds(100)) }
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
            if try await readPage() { continue }
            if isDone() { return }
            await pause(.milliseconds(100))
        }
    }

    /// Reads the rest of the log, and writes the findings in the whole log.
    func finish() async throws {
        while try await readPage() {}
        let (_, leaks, bytes) = state.withLock { $0 }
        history.write(.leak(.init(place: backend.place, found: leaks, searchedBytes: bytes)))
    }

    /// - Returns: whether there is more.
    private func readPage() async throws -> Bool {
        let last = state.withLock { $0.last }
        let page = try await backend.page(after: last)
        let found = needles.occurrences(in: page.bytes)
        let isNew = state.withLock { state in
            // `finish` may come while another page is being read.
            guard state.last == last else { return false }
            state = (page.last ?? last, state.leaks + found, state.bytes + page.bytes.count)
            return true
        }
        guard isNew else { return page.isFull }
        unanswered.add(page.unanswered, ordering: .relaxed)
        if page.missing > 0 { history.write(.gap(.init(after: last, missing: page.missing))) }
        for crossing in page.crossings { take(crossing) }
        return page.isFull
    }

    private func take(_ crossing: Crossing) {
        let id = Self.id(in: crossing.body)
        let withdraws = Self.withdraws(crossing.body)
        history.write(
            .hub(
                .init(
                    time: crossing.time, sequence: crossing.sequence, platform: crossing.platform,
                    id: id?.description, accepted: crossing.accepted, status: crossing.status, fault: crossing.fault,
                    devices: crossing.handles.map { fleet.name(of: $0) ?? $0 }, withdraws: withdraws ? true : nil)))
        guard crossing.accepted else { return }
        if let id {
            let entry = Standing(id: id, audience: crossing.audience)
            standing.withLock { if withdraws { $0.remove(entry) } else { $0.insert(entry) } }
        }
        for handle in crossing.handles { fleet.wake(handle, crossing.body) }
    }

    /// The ID that a native body names: of Apple's, Google's and browsers' in `secureId`, of Windows' the body's first word.
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
