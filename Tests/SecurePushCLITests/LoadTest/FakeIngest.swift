import Domain
import Foundations
import Synchronization

@testable import SecurePushCLI

/// An ingest service in memory: what a load test pushes is dispatched after it was asked for a number of times.
final class FakeIngest: LoadTarget {
    struct Behavior: Sendable {
        /// How often a notification is looked at before it is dispatched.
        var looksUntilDispatched = 1
        /// From acceptance to the hub's answer.
        var latency = Duration.milliseconds(40)
        /// What becomes of a notification; `nil` is accepted.
        var failure: @Sendable (Int) -> String? = { _ in nil }
        /// Thrown by a request.
        var refusal: @Sendable (Int) -> CommandFailure? = { _ in nil }
        /// Thrown when the state is asked for.
        var stateFailure: CommandFailure?
        /// How it ends.
        var end: @Sendable (Int) -> NotificationStatus = { _ in .dispatched }
        /// Called for every request.
        var observe: @Sendable (Range<Int>) -> Void = { _ in }
    }

    private struct Row {
        var id: NotificationID
        var notification: Int
        var looks = 0
    }

    static let created = Timestamp(milliseconds: 1_700_000_000_000)

    let behavior: Behavior
    private let rows = Mutex<[Row]>([])
    private let inFlight = Mutex<(now: Int, most: Int)>((0, 0))

    init(_ behavior: Behavior = Behavior()) { self.behavior = behavior }

    var mostAtOnce: Int { inFlight.withLock { $0.most } }

    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws {
        behavior.observe(notifications)
        inFlight.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { inFlight.withLock { $0.now -= 1 } }
        await Task.yield()
        for notification in notifications {
            if let refusal = behavior.refusal(notification) { throw refusal }
            if let reason = behavior.failure(notification) {
                report(notification, .failed(reason))
                continue
            }
            let id = rows.withLock { rows in
                let id = NotificationID(high: 1, low: UInt64(rows.count))
                rows.append(Row(id: id, notification: notification))
                return id
            }
            report(notification, .accepted(id))
        }
    }

    func state(of id: NotificationID) async throws -> PushedState {
        if let failure = behavior.stateFailure { throw failure }
        let status = look(Int(id.low))
        let createdAt = FakeIngest.created + .milliseconds(Int(id.low))
        return PushedState(
            createdAt: createdAt, status: status, sentAt: status.isFinal ? createdAt + behavior.latency : nil)
    }

    func page(before id: NotificationID?) async throws -> PushedPage {
        let end = id.map { Int($0.low) } ?? rows.withLock { $0.count }
        let begin = max(0, end - 50)
        let found = (begin..<end).reversed().map { row in
            (id: NotificationID(high: 1, low: UInt64(row)), status: look(row))
        }
        return PushedPage(
            notifications: found, next: begin > 0 ? NotificationID(high: 1, low: UInt64(begin)) : nil)
    }

    private func look(_ row: Int) -> NotificationStatus {
        rows.withLock { rows in
            rows[row].looks += 1
            return rows[row].looks > behavior.looksUntilDispatched ? behavior.end(rows[row].notification) : .queued
        }
    }
}
