import ArgumentParser
import Foundation
import SecurePushCore

struct TailCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Follow a sender's notifications as they come and change, one line each.",
        discussion: """
            Asks the ingest service for the newest notifications of the API key's sender again and again, and prints
            those that are new and those whose status has changed: time, ID, status, recipient. Statuses that come and
            go between two looks are not seen, and a burst of more than the window in one interval is seen in part.
            Runs until Ctrl-C, or until --count lines.

            EXAMPLES
              securepush tail
              securepush tail --recipient alice --last 10
              securepush tail --status failed --json
            """)

    @Option(help: ArgumentHelp("Only this recipient's.", valueName: "name"))
    var recipient: String?

    @Option(help: ArgumentHelp("Only those that come to this status; repeat it for more.", valueName: "status"))
    var status: [NotificationStatus] = []

    @Option(help: ArgumentHelp("Begin with so many of the newest, 0 to 200.", valueName: "n"))
    var last = 0

    @Option(help: ArgumentHelp("How many of the newest are watched, 1 to 200.", valueName: "n"))
    var window = 200

    @Option(help: ArgumentHelp("End after this many lines.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("The time between two looks, 100ms to 1h.", valueName: "duration"))
    var interval = DurationArgument(.seconds(1))

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Page: Decodable { var Notifications: [ListedNotification] }

    func validate() throws {
        if let recipient, UserName(recipient) == nil {
            throw ValidationError("A recipient has 1 to 1,024 bytes and no control characters.")
        }
        if !(1...200).contains(window) { throw ValidationError("--window is 1 to 200.") }
        if !(0...200).contains(last) { throw ValidationError("--last is 0 to 200.") }
        if let count, count < 1 { throw ValidationError("--count is at least 1.") }
        guard interval.duration >= .milliseconds(100), interval.duration <= .seconds(3600) else {
            throw ValidationError("--interval is 100ms to 1h.")
        }
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.credentials().authorization
        _ = try await Deadline.run(nil) { try await follow(client, authorization, console) }
    }

    private func follow(_ client: APIClient, _ authorization: String, _ console: Console) async throws {
        var state = TailWindow(capacity: 10 * window)
        var outage = TailOutage()
        var told = 0
        while true {
            do {
                let page = try await page(client, authorization)
                if outage.heal() { console.message("ingest answers again") }
                for var notification in state.take(page, showing: last) where isWanted(notification) {
                    notification.Time = Timestamp.now.description
                    try console.show(notification, TailCommand.line(notification, console.styled))
                    told += 1
                    if told == count { return }
                }
            } catch let failure as CommandFailure {
                // A service that restarts is waited for, once it has answered at all.
                guard failure.code == .unreachable, outage.bears() else { throw failure }
                if outage.begin() { console.message("\(failure.message); still trying") }
            }
            try await Task.sleep(for: interval.duration)
        }
    }

    private func page(_ client: APIClient, _ authorization: String) async throws -> [ListedNotification] {
        let recipient = recipient.map { "&Recipient=\($0.urlEncoded)" } ?? ""
        let answer = try await client.send(
            .get, "/api/notifications?Limit=\(max(window, last))\(recipient)", authorization: authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
        guard let page = try? JSONText.decode(Page.self, from: answer.body) else {
            throw CommandFailure(.failed, "ingest's answer is no list of notifications")
        }
        return page.Notifications
    }

    private func isWanted(_ notification: ListedNotification) -> Bool {
        status.isEmpty || status.contains { $0.rawValue == notification.Status }
    }

    /// `2026-11-21T17:56:18.123Z  ID  dispatched  alice`
    static func line(_ notification: ListedNotification, _ styled: (String, Style) -> String) -> String {
        let status = notification.Status.printable.padded(to: 12)
        let time = (notification.Time ?? notification.CreatedAt).printable
        let shown = StatusStyle.styled(status, notification.Status, styled)
        return "\(time)  \(notification.Id.printable)  \(shown)\(notification.Recipient.printable)"
    }
}

/// Whether the service is away, so that it is said once.
struct TailOutage: Sendable {
    private var hasAnswered = false
    private var isAway = false

    /// Whether an outage is to be waited out: not when the service never answered.
    func bears() -> Bool { hasAnswered }

    /// - Returns: whether it is to be told.
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

/// A notification as the sender's list tells it.
struct ListedNotification: Codable, Sendable, Equatable {
    /// When the change was seen here; not of the list.
    var Time: String?
    var Id: String
    var Recipient: String
    var Status: String
    var CreatedAt: String
    var ReadAt: String?
}

/// What is new in a list that is read again and again: notifications that were not in it, and statuses that have
/// changed.
///
/// Only the newest are remembered; what has left the window is not heard of again.
struct TailWindow: Sendable {
    private let capacity: Int
    private var statuses: [String: String] = [:]
    /// The ID from which on everything is new: what was there at the first look is not told.
    private var oldest: String?
    private var isFirst = true

    /// - Parameter capacity: how many notifications are followed.
    init(capacity: Int) { self.capacity = capacity }

    /// - Parameters:
    ///   - page: newest first.
    ///   - showing: how many of the newest to tell at the first look, as if they were new.
    /// - Returns: what is to be told, the oldest first.
    mutating func take(_ page: [ListedNotification], showing: Int = 0) -> [ListedNotification] {
        var news: [ListedNotification] = []
        for (index, notification) in page.enumerated() {
            // The IDs' texts sort by time.
            if !isFirst, statuses[notification.Id] == nil, let oldest, notification.Id < oldest { continue }
            let isTold = isFirst ? index < showing : statuses[notification.Id] != notification.Status
            statuses[notification.Id] = notification.Status
            if isTold { news.append(notification) }
        }
        // What is older than the first look cannot be new, whenever it is seen.
        if isFirst { oldest = page.last?.Id }
        isFirst = false
        forget()
        return news.reversed()
    }

    private mutating func forget() {
        guard statuses.count > capacity else { return }
        let kept = statuses.keys.sorted(by: >).prefix(capacity)
        // What is older than the window must not come back as new.
        oldest = kept.last
        statuses = statuses.filter { item in oldest.map { item.key >= $0 } ?? true }
    }
}
