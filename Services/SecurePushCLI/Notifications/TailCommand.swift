import ArgumentParser
import Foundation
import SecurePushCore

struct TailCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Follow a sender's notifications: print one line per new notification or status change.",
        discussion: """
            Polls the ingest service for the newest notifications of the API key's sender and prints time, ID, status
            and recipient of each new or changed one. Because it polls, it can miss short-lived statuses, and shows at
            most --window notifications per interval. Runs until Ctrl-C, or until it has printed --count lines.

            EXAMPLES
              securepush tail
              securepush tail --recipient alice --last 10
              securepush tail --status failed --json
            """)

    @Option(help: ArgumentHelp("Only notifications for this recipient.", valueName: "name"))
    var recipient: String?

    @Option(help: ArgumentHelp("Only changes to this status. Repeat it for more.", valueName: "status"))
    var status: [NotificationStatus] = []

    @Option(help: ArgumentHelp("Print this many of the newest notifications first, 0 to 200.", valueName: "n"))
    var last = 0

    @Option(help: ArgumentHelp("Number of the newest notifications to watch, 1 to 200.", valueName: "n"))
    var window = 200

    @Option(help: ArgumentHelp("End after this many lines.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("The polling interval, 100ms to 1h.", valueName: "duration"))
    var interval = DurationArgument(.seconds(1))

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Page: Decodable {
        var notifications: [ListedNotification]
        private enum CodingKeys: String, CodingKey { case notifications = "Notifications" }
    }

    func validate() throws {
        if let recipient { try UserName.validate(recipient, of: "--recipient", as: "recipient") }
        try requireRange("--window", window, 1...200)
        try requireRange("--last", last, 0...200)
        try requireRange("--count", count, 1 ... .max)
        guard interval.duration >= .milliseconds(100), interval.duration <= .seconds(3600) else {
            throw ValidationError("--interval must be between 100ms and 1h.")
        }
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.authorization()
        try await withInterruption { try await follow(client, authorization, console) }
    }

    private func follow(_ client: APIClient, _ authorization: String, _ console: Console) async throws {
        var state = TailWindow(capacity: 10 * window)
        var outage = TailOutage()
        var shown = 0
        while true {
            do {
                let page = try await page(client, authorization)
                if outage.heal() { console.message("ingest answers again") }
                for var notification in state.take(page, showing: last) where isWanted(notification) {
                    notification.time = Timestamp.now.description
                    try console.show(notification, TailCommand.line(notification, console.styled))
                    shown += 1
                    if shown == count { return }
                }
            } catch let failure as CommandFailure {
                // Waits for a service that restarts, but not for one that never answered.
                guard failure.code == .unreachable, outage.hasAnswered else { throw failure }
                if outage.begin() { console.message("\(failure.message) Still trying.") }
            }
            try await Task.sleep(for: interval.duration)
        }
    }

    private func page(_ client: APIClient, _ authorization: String) async throws -> [ListedNotification] {
        let recipient = recipient.map { "&Recipient=\(PercentCoding.encode($0))" } ?? ""
        let response = try await client.request(
            .get, "/api/notifications?Limit=\(max(window, last))\(recipient)", authorization: authorization)
        return try client.decode(Page.self, from: response).notifications
    }

    private func isWanted(_ notification: ListedNotification) -> Bool {
        status.isEmpty || status.contains { $0.rawValue == notification.status }
    }

    /// `2026-11-21T17:56:18.123Z  ID  dispatched  alice`
    static func line(_ notification: ListedNotification, _ styled: (String, Style) -> String) -> String {
        let status = notification.status.printable.padded(to: 12)
        let time = (notification.time ?? notification.createdAt).printable
        let shown = StatusStyle.styled(status, notification.status, styled)
        return "\(time)  \(notification.id.printable)  \(shown)\(notification.recipient.printable)"
    }
}

/// Whether the service is unreachable, so that each outage is reported once.
struct TailOutage: Sendable {
    /// Whether the service has ever answered.
    private(set) var hasAnswered = false
    private var isAway = false

    /// - Returns: whether an outage has begun.
    mutating func begin() -> Bool {
        defer { isAway = true }
        return !isAway
    }

    /// - Returns: whether an outage has ended.
    mutating func heal() -> Bool {
        defer {
            isAway = false
            hasAnswered = true
        }
        return isAway
    }
}

/// A row of the sender's list.
struct ListedNotification: Codable, Sendable, Equatable {
    /// When this command saw the change; not part of the list.
    var time: String?
    var id: String
    var recipient: String
    var status: String
    var createdAt: String
    var readAt: String?

    private enum CodingKeys: String, CodingKey {
        case time = "Time", id = "Id", recipient = "Recipient", status = "Status", createdAt = "CreatedAt"
        case readAt = "ReadAt"
    }
}

/// Finds new notifications and changed statuses in a list that is polled. Remembers only the newest notifications;
/// one that has left the window is not reported again.
struct TailWindow: Sendable {
    private let capacity: Int
    private var statuses: [String: String] = [:]
    /// Unknown IDs older than this one are not new.
    private var oldest: String?
    private var isFirst = true

    /// - Parameter capacity: the number of notifications to remember.
    init(capacity: Int) { self.capacity = capacity }

    /// - Parameters:
    ///   - page: newest first.
    ///   - showing: how many of the newest to report on the first call as if they were new.
    /// - Returns: new and changed notifications, oldest first.
    mutating func take(_ page: [ListedNotification], showing: Int = 0) -> [ListedNotification] {
        var news: [ListedNotification] = []
        for (index, notification) in page.enumerated() {
            // IDs sort by time as text.
            if !isFirst, statuses[notification.id] == nil, let oldest, notification.id < oldest { continue }
            let isNews = isFirst ? index < showing : statuses[notification.id] != notification.status
            statuses[notification.id] = notification.status
            if isNews { news.append(notification) }
        }
        if isFirst { oldest = page.last?.id }
        isFirst = false
        forget()
        return news.reversed()
    }

    private mutating func forget() {
        guard statuses.count > capacity else { return }
        let kept = statuses.keys.sorted(by: >).prefix(capacity)
        oldest = kept.last
        statuses = statuses.filter { item in oldest.map { item.key >= $0 } ?? true }
    }
}
