import Domain
import Foundations

/// Reads notifications of all senders for the operator: failures by reason, notifications of a recipient, the events of
/// one notification.
struct OperatorDirectory: Sendable {
    /// The most failed notifications that one answer groups.
    static let maxFailed = 1000
    /// The most notifications of a recipient in one answer.
    static let maxFound = 50
    /// The most groups in one answer, and the most IDs that each names.
    static let maxGroups = 50
    static let maxExamples = 5

    let store: any OperatorStore
    let platforms: [Platform]

    /// Groups the newest failed notifications in a window by reason. A notification that failed for several reasons is
    /// in several groups.
    func failures(_ window: TimeWindow, before: NotificationID?, now: Timestamp) async throws -> FailureReport {
        let page = try await store.page(
            OperatorQuery(
                onlyFailed: true, since: now - window.duration, before: before, limit: Self.maxFailed))
        var groups: [String: FailureReport.Group] = [:]
        for entry in page.entries {
            let dead = Dictionary(grouping: entry.record.deliveries.filter { $0.state == .dead }) {
                FailureReason.of($0)
            }
            for (reason, deliveries) in dead {
                groups[reason, default: FailureReport.Group(reason: reason)].add(entry.record.id, deliveries)
            }
        }
        let sorted = groups.values.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
        return FailureReport(
            window: window.rawValue, notifications: page.entries.count,
            since: (page.next?.timestamp ?? (now - window.duration)).description,
            groups: Array(sorted.prefix(Self.maxGroups)), next: page.next?.description)
    }

    func found(_ recipient: UserName, before: NotificationID?, now: Timestamp) async throws -> FoundReport {
        let page = try await store.page(OperatorQuery(recipient: recipient, before: before, limit: Self.maxFound))
        return FoundReport(
            notifications: page.entries.map { entry in
                FoundReport.Item(
                    id: entry.record.id.description, sender: entry.sender,
                    status: entry.record.status(at: now).rawValue, createdAt: entry.record.createdAt.description)
            }, next: page.next?.description)
    }
}

/// The answer of `GET /admin/api/failures`.
struct FailureReport: Encodable, Sendable {
    /// Notifications that failed for one reason.
    struct Group: Encodable, Sendable {
        struct Share: Encodable, Sendable, Equatable {
            var platform: String
            var count: Int
        }

        var reason: String
        /// Notifications.
        var count = 0
        /// Those that failed on each platform for this reason.
        var platforms: [Share] = []
        /// The time of the first and last failure.
        var oldest = ""
        var newest = ""
        /// Some of the notifications.
        var ids: [String] = []

        fileprivate mutating func add(_ id: NotificationID, _ deliveries: [Delivery]) {
            count += 1
            if ids.count < OperatorDirectory.maxExamples { ids.append(id.description) }
            for delivery in deliveries {
                let time = delivery.updatedAt.description
                oldest = oldest.isEmpty ? time : min(oldest, time)
                newest = max(newest, time)
                let name = delivery.platform.rawValue
                if let index = platforms.firstIndex(where: { $0.platform == name }) {
                    platforms[index].count += 1
                } else {
                    platforms.append(Share(platform: name, count: 1))
                    platforms.sort { $0.platform < $1.platform }
                }
            }
        }
    }

    var window: String
    /// The failed notifications that were found.
    var notifications: Int
    /// Everything that was accepted since then was examined.
    var since: String
    var groups: [Group]
    /// Older failures of the window follow after this ID.
    var next: String?
}

/// The answer of `POST /admin/api/notifications/search`.
struct FoundReport: Encodable, Sendable {
    struct Item: Encodable, Sendable {
        var id: String
        var sender: String
        var status: String
        var createdAt: String
    }

    var notifications: [Item]
    var next: String?
}
