import ArgumentParser
import Domain
import Foundations

struct ResendCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Dispatch failed notifications again, to the platforms that failed.",
        discussion: """
            Platforms that accepted the push are never sent it again. If no platform has failed, or the payload is \
            gone, the service refuses (409). --failed selects notifications of the API key's sender that failed on at \
            least one platform and were accepted after --since. The command tries every notification, even if one \
            fails. The last line on standard error says how many were dispatched again. If AMQP_URL is set, it also \
            removes their dead letters; otherwise the next `securepush dead-letters replay` does. Exit codes: 0 all \
            dispatched again, 1 some not, 69 no answer.

            EXAMPLES
              securepush resend 01890a5d-ac96-774b-bcce-b302099a8057
              securepush resend --failed --since 2h
              securepush resend --failed --since 2026-11-21T08:30:00Z --json
            """)

    @Argument(help: "The IDs of the notifications, such as \(IDArgument.example).")
    var ids: [IDArgument] = []

    @Flag(help: "All notifications that failed on at least one platform and were accepted after --since.")
    var failed = false

    @Option(help: ArgumentHelp("With --failed: a time (RFC 3339), or a duration before now.", valueName: "time"))
    var since: SinceArgument?

    @OptionGroup var sender: SenderOptions

    private struct Row: Codable {
        var id: String
        var platforms: [String]
    }

    func validate() throws {
        if ids.isEmpty != failed { throw ValidationError("Give either IDs or --failed.") }
        if failed != (since != nil) { throw ValidationError("Give --failed and --since together.") }
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        var ids = ids.map(\.id.description)
        if let since {
            let start = since.time(.now)
            for status in [NotificationStatus.failed, .partial] {
                ids += try await list(status, since: start, client)
            }
        }
        if ids.isEmpty { return console.message("No notifications that failed were accepted after --since.") }
        let letters = await ResentLetters.hold(of: ids, console)
        let (resent, result) = await resend(ids, client, console)
        await letters?.end(resent: resent, console)
        try result.get()
    }

    /// - Returns: the notifications that were dispatched again, also if others failed.
    private func resend(
        _ ids: [String], _ client: APIClient, _ console: Console
    ) async -> (resent: [String], Result<Void, any Error>) {
        var (tried, resent) = (0, [String]())
        let line = ProgressLine(console)
        defer {
            line.clear()
            let total = ids.count == 1 ? "1 notification" : "\(ids.count.grouped) notifications"
            if !console.isJSON { console.message("resent \(resent.count.grouped) of \(total)") }
        }
        do {
            try await console.forEach(ids, of: client) { id in
                tried += 1
                line.show("\(tried.grouped) of \(ids.count.grouped) notifications")
                let path = "/api/notifications/\(PercentCoding.encode(id))/resend"
                return try await client.send(.post, path)
            } accepted: { id, response in
                let row = try client.decode(Row.self, from: response)
                let platforms = row.platforms.isEmpty ? "all platforms" : row.platforms.joined(separator: ",")
                line.clear()
                try console.show(row, "resent \(row.id.oneLine) to \(platforms.oneLine)")
                resent.append(id)
            }
            return (resent, .success(()))
        } catch {
            return (resent, .failure(error))
        }
    }

    /// The IDs with a status, newest first.
    private func list(
        _ status: NotificationStatus, since: Timestamp, _ client: APIClient
    ) async throws -> [String] {
        var ids: [String] = []
        var before: String?
        while true {
            let page = try await client.get(
                "/api/notifications", [("Limit", "200"), ("Status", status.rawValue), ("Before", before)],
                as: Wire.NotificationPage.self
            ).value
            let recent = page.notifications.filter { Timestamp(rfc3339: $0.createdAt).map { $0 >= since } ?? false }
            ids += recent.map(\.id)
            // A page can be empty because of the status filter; only the time in the ID tells where to stop.
            let end = page.next.flatMap { NotificationID($0) }
            guard let end, end.timestamp >= since, page.next != before else { return ids }
            before = page.next
        }
    }
}
