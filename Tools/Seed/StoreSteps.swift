import Domain
import Foundation
import Foundations

/// Calls each hot operation of a store in groups as the services do, one step after the other, for
/// `Tools/scenarios/sizes.py`, which filled the store and measures the database.
///
/// Before each step it prints its name and waits for a line of standard input; after the step it prints the number of
/// rows and the seconds of CPU that this process used.
struct StoreSteps {
    /// The number of filled rows. Row `i` has the ID of ``id(_:)`` and the recipient of ``recipient(_:)``.
    let rows: Int
    let store: any Store

    private static let start: Int64 = 1_790_000_000_000
    private static let group = 64
    private static let count = 6400
    private static let lifetime = Duration.seconds(30 * 86_400)
    private static let noTime = Timestamp(milliseconds: .max)

    func run() async throws {
        let fresh = try Self.fresh(users: users)
        let groups = fresh.map { $0.map(\.notification.id) }
        try await step("append") { try await each(fresh) { try await store.append($0) } }
        try await step("confirm") { try await each(groups) { try await store.confirm($0, until: Self.noTime) } }
        try await step("claim") { try await each(groups) { _ = try await store.claim($0, now: .now) } }
        try await step("record") { try await each(groups) { _ = try await store.record($0.map(Self.outcome)) } }
        try await readFresh(fresh.flatMap(\.self).shuffled())
        try await readOld()
        try await list()
        try await sweep()
        try await purge()
    }

    /// As a device does after a push: soon, but in no order.
    private func readFresh(_ fresh: [SealedNotification]) async throws {
        let asked = fresh.map { ($0.notification.id, $0.notification.recipient) }
        try await step("find, first") { try await find(asked) }
        let groups = Self.grouped(fresh.map(\.notification.id))
        try await step("mark as read") { try await each(groups) { try await store.markRead($0, at: .now) } }
        try await step("find, again") { try await find(asked) }
    }

    private func readOld() async throws {
        let old = (0..<Self.count).map { _ in Int.random(in: 1...rows) }
        try await step("find, any row") { try await find(old.map { (Self.id($0), recipient($0)) }) }
        let users = old.prefix(640).map(recipient)
        try await step("unread count") {
            for user in users { _ = try await store.unreadCount(of: user, now: Self.time(rows)) }
            return users.count
        }
        try await step("inbox of 20") {
            for user in users {
                _ = try await store.inbox(of: user, unreadOnly: false, after: nil, limit: 20, now: Self.time(rows))
            }
            return users.count
        }
    }

    private func list() async throws {
        let pages = (0..<320).map { _ in Int.random(in: 1...rows) }
        func list(_ pages: [Int], _ change: (inout NotificationQuery, Int) -> Void) async throws -> Int {
            for row in pages {
                var query = NotificationQuery(sender: "sender1", limit: 20)
                query.before = Self.id(row)
                change(&query, row)
                _ = try await store.page(query, now: Self.time(rows))
            }
            return pages.count
        }
        try await step("list of 20") { try await list(pages) { _, _ in } }
        try await step("list of 20 read") { try await list(pages) { query, _ in query.status = .read } }
        try await step("list to a user") {
            try await list(pages) { query, row in query.recipient = recipient(row) }
        }
        try await step("list of no match") {
            try await list(Array(repeating: rows, count: 5)) { query, _ in query.status = .revoked }
        }
        let letters = Self.grouped(pages.map(Self.id))
        try await step("dead letters") { try await each(letters) { _ = try await store.records($0) } }
    }

    /// Entries that are due, and looks that find nothing.
    private func sweep() async throws {
        let due = Self.time(rows) + .seconds(3600)
        try await step("sweep of 64") {
            try await total(3) {
                let lease = try await store.leasePublished(
                    limit: Self.group, due: due, now: due, until: due + .seconds(3600))
                return lease.examined
            }
        }
        try await step("sweep of none") {
            try await total(100) {
                _ = try await store.lease(limit: Self.group, now: Self.time(0), until: due)
                return 1
            }
        }
        try await step("backlog") {
            try await total(20) {
                _ = try await store.backlog(now: due)
                return 1
            }
        }
        try await step("follow-ups of 64") {
            try await total(3) { try await store.leaseFollowUps(limit: Self.group, now: due).count }
        }
    }

    /// The oldest payloads, and after their tombstones' time the rows.
    private func purge() async throws {
        let expiry = Self.time(min(rows, 2560)) + Self.lifetime
        try await step("destroy payloads") {
            try await total(10) { try await store.purge(limit: 256, now: expiry).payloads }
        }
        try await step("remove rows") {
            try await total(10) {
                try await store.purge(limit: 256, now: expiry + RetentionPolicy.tombstone).notifications
            }
        }
    }
}

extension StoreSteps {
    private func step(_ name: String, _ body: () async throws -> Int) async throws {
        show(name)
        _ = readLine()
        let before = Self.processorTime()
        let count = try await body()
        show("\(count) \(Self.processorTime() - before)")
        _ = readLine()
    }

    private func show(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private func each<Element>(_ groups: [[Element]], _ body: ([Element]) async throws -> Void) async throws -> Int {
        for group in groups { try await body(group) }
        return groups.reduce(0) { $0 + $1.count }
    }

    private func total(_ times: Int, _ body: () async throws -> Int) async throws -> Int {
        var sum = 0
        for _ in 0..<times { sum += try await body() }
        return sum
    }

    /// The requests of a group wait together, so they share a statement.
    private func find(_ asked: [(NotificationID, UserName)]) async throws -> Int {
        for group in Self.grouped(asked) {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (id, recipient) in group {
                    tasks.addTask { _ = try await store.find(id, recipient: recipient) }
                }
                try await tasks.waitForAll()
            }
        }
        return asked.count
    }

    private static func grouped<Element>(_ elements: [Element]) -> [[Element]] {
        stride(from: 0, to: elements.count, by: group).map {
            Array(elements[$0..<min($0 + group, elements.count)])
        }
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension StoreSteps {
    /// One hundred notifications for each.
    private var users: Int { max(rows / 100, 10) }

    private func recipient(_ row: Int) -> UserName { UserName("user\(row % users)")! }

    private static func time(_ row: Int) -> Timestamp { Timestamp(milliseconds: start + Int64(row)) }

    private static func id(_ row: Int) -> NotificationID {
        NotificationID(high: UInt64(start + Int64(row)) << 16 | 0x7000, low: 0x8000_0000_0000_0000 | UInt64(row))
    }

    private static func fresh(users: Int) throws -> [[SealedNotification]] {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let payload = SealedPayload(keyID: "k1", bytes: Array(repeating: 7, count: 300))
        return grouped(
            (0..<count).map { _ in
                let notification = Notification(
                    sender: "sender1", recipient: UserName("user\(Int.random(in: 0..<users))")!,
                    expiresAt: .now + lifetime, traceparent: trace)
                return SealedNotification(notification: notification, payload: payload)
            })
    }

    private static func outcome(_ id: NotificationID) -> DispatchOutcome {
        let deliveries = [Platform.apple, .fcmv1, .windows].map {
            Delivery(
                platform: $0, state: .sent, attempts: 1, hubMessageID: "1234567890123456789-1234567890123456789-1",
                updatedAt: .now)
        }
        return DispatchOutcome(id: id, attempt: 1, deliveries: deliveries, pushedAt: nil)
    }
}
