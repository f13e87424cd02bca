import ArgumentParser
import Domain
import Foundation
import Foundations

struct TailCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Follow a sender's notifications: print one line per new notification or status change.",
        discussion: """
            Polls the ingest service for the newest notifications of the API key's sender and prints time, ID, status \
            and recipient of each new or changed one. Because it polls, it does not show a status that lasts for less \
            than --interval. It sees changes of the --window newest notifications, and says how many left the window \
            without a final status. New notifications beyond the window are read page by page; of more than 2,000 at \
            once it says how many it missed. While the service does not answer, it tries on, and says how many polls \
            failed. Runs until Ctrl-C, or until it has printed --count lines.

            EXAMPLES
              securepush tail
              securepush tail --recipient alice --last 10
              securepush tail --status failed --json
            """)

    @Option(
        name: [.customLong("recipient"), .customLong("to")],
        help: ArgumentHelp("Only notifications for this recipient.", valueName: "name"))
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

    @OptionGroup var sender: SenderOptions

    private struct Page: Decodable {
        var notifications: [ListedNotification]
        var next: String?
    }

    func validate() throws {
        if let recipient { try UserName.validate(recipient, of: "--recipient", as: "recipient") }
        try requireRange("--window", window, 1...200)
        try requireRange("--last", last, 0...200)
        try requireRange("--count", count, 1 ... .max)
        try requireRange("--interval", interval, .milliseconds(100) ... .seconds(3600))
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        try await withInterruption { try await follow(client, console) }
    }

    private func follow(_ client: APIClient, _ console: Console) async throws {
        var state = TailWindow(size: window, capacity: 10 * window)
        var outage = TailOutage()
        var shown = 0
        while true {
            var wait = interval.duration
            do {
                let poll = try await TailPoll(since: state.isFirst ? nil : state.newest) { before in
                    try await page(before, client)
                }
                let failed = outage.heal()
                if failed > 0 {
                    console.message(
                        "\(client.service) answers again; \(failed.grouped) polls failed. Statuses that lasted for "
                            + "less than that are not shown.")
                }
                if let loss = poll.loss { console.message(loss) }
                let news = state.take(poll.notifications, showing: last)
                for var notification in news.notifications where isWanted(notification) {
                    notification.time = Timestamp.now.description
                    try console.show(notification, TailCommand.line(notification, console.styled))
                    shown += 1
                    if shown == count || StandardOutput.isUnread { return }
                }
                if news.unfinished > 0 { console.message(Self.unfinished(news.unfinished, of: window)) }
            } catch let failure as CommandFailure {
                // Waits for a service that restarts or is busy, but not for one that never answered.
                guard failure.code == .unreachable || failure.retryAfter != nil, outage.hasAnswered else {
                    throw failure
                }
                if outage.begin() { console.message("\(failure.message) Still trying.") }
                wait = max(wait, min(failure.retryAfter ?? .zero, Self.longestWait))
            }
            try await Task.sleep(for: wait)
        }
    }

    /// The longest `Retry-After` that is waited for.
    private static let longestWait = Duration.seconds(60)

    private static func unfinished(_ count: Int, of window: Int) -> String {
        count == 1
            ? "1 notification left the window of \(window) before its status was final: its next changes are not shown."
            : "\(count.grouped) notifications left the window of \(window) before their status was final: their next "
                + "changes are not shown."
    }

    private func page(
        _ before: String?, _ client: APIClient
    ) async throws -> (rows: [ListedNotification], next: String?) {
        // Further pages are as large as they can be.
        let limit = before == nil ? max(window, last, 1) : 200
        let page = try await client.get(
            "/api/notifications", [("Limit", "\(limit)"), ("Recipient", recipient), ("Before", before)],
            as: Page.self
        ).value
        return (page.notifications, page.next)
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
