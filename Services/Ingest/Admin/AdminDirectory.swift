import Domain
import Foundations

/// Reads notifications of all senders for the operator: failures by reason, notifications of a recipient, one life.
struct AdminDirectory: Sendable {
    /// The most failed notifications that one answer groups.
    static let maxFailed = 1000
    /// The most notifications of a recipient in one answer.
    static let maxFound = 50
    /// The most groups in one answer, and the most IDs that each names.
    static let maxGroups = 50
    static let maxExamples = 5

    let store: any OperatorStore
    let platforms: [Platform]

    /// Groups the failed platforms of the newest failed notifications in a window by platform and reason.
    func failures(_ window: AdminWindow, before: NotificationID?, now: Timestamp) async throws -> FailureReport {
        let page = try await store.page(
            OperatorQuery(
                onlyFailed: true, since: now - window.duration, before: before, limit: Self.maxFailed))
        var groups: [FailureKey: FailureReport.Group] = [:]
        for entry in page.entries {
            for delivery in entry.record.deliveries where delivery.state == .dead {
                let key = FailureKey(delivery)
                let id = entry.record.id.description
                let time = delivery.updatedAt.description
                var group =
                    groups[key]
                    ?? FailureReport.Group(
                        platform: key.platform, reason: key.reason, count: 0, oldest: time, newest: time, ids: [])
                group.count += 1
                group.oldest = min(group.oldest, time)
                group.newest = max(group.newest, time)
                if group.ids.count < Self.maxExamples { group.ids.append(id) }
                groups[key] = group
            }
        }
        let sorted = groups.values.sorted {
            ($1.count, $0.platform, $0.reason) < ($0.count, $1.platform, $1.reason)
        }
        return FailureReport(
            window: window.rawValue, notifications: page.entries.count, groups: Array(sorted.prefix(Self.maxGroups)),
            next: page.next?.description)
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

/// What failed notifications have in common.
struct FailureKey: Hashable, Sendable {
    /// The characters of a reason.
    static let maxReason = 200

    var platform: String
    var reason: String
}

extension FailureKey {
    init(_ delivery: Delivery) {
        self.init(
            platform: delivery.platform.rawValue, reason: Self.normal(delivery.error ?? "no reason given"))
    }

    /// The reason without what differs from request to request: the hub's tracking ID and time, and long numbers.
    static func normal(_ text: String) -> String {
        var text = text[...]
        if let tracking = text.firstRange(of: "TrackingId") { text = text[..<tracking.lowerBound] }
        while let last = text.last, " .,;:(".contains(last) { text.removeLast() }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word -> Substring in
            let core = word.utf8.filter { !punctuation.contains($0) }
            let digits = core.count { ByteSet.digits.contains($0) }
            return core.count >= 8 && digits * 3 >= core.count ? "…" : word
        }
        return String(words.joined(separator: " ").prefix(maxReason))
    }

    private static let punctuation = ByteSet("(),.;:")
}

/// The answer of `GET /admin/api/failures`.
struct FailureReport: Encodable, Sendable {
    /// Deliveries that failed for one reason on one platform.
    struct Group: Encodable, Sendable {
        var platform: String
        var reason: String
        var count: Int
        /// The time of the first and last failure.
        var oldest: String
        var newest: String
        /// Some of the notifications.
        var ids: [String]
    }

    var window: String
    /// The failed notifications that were examined.
    var notifications: Int
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
