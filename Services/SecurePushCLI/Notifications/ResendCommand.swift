import ArgumentParser
import SecurePushCore

struct ResendCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Dispatch again what failed: on each platform that gave up or refused it.",
        discussion: """
            What was sent is not sent again. Where nothing has failed, or the payload is gone, nothing is done (409).
            With --failed those of the API key's sender that failed on some platform and were accepted since the time
            given. Each is tried, whatever becomes of the others. Exit codes: 0 all are dispatched again, 1 some are
            not, 69 no answer.

            EXAMPLES
              securepush resend 01890a5d-ac96-774b-bcce-b302099a8057
              securepush resend --failed --since 2h
              securepush resend --failed --since 2026-11-21T08:30:00Z --json
            """)

    @Argument(help: "The notifications' IDs.")
    var ids: [IDArgument] = []

    @Flag(help: "All that failed on some platform, accepted after --since.")
    var failed = false

    @Option(help: ArgumentHelp("With --failed: a time, or how long ago.", valueName: "time"))
    var since: SinceArgument?

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Answer: Codable, Equatable {
        var Id: String
        var Platforms: [String]
    }

    func validate() throws {
        if ids.isEmpty != failed { throw ValidationError("Give the IDs, or --failed.") }
        if failed != (since != nil) { throw ValidationError("--failed and --since go together.") }
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.credentials().authorization
        var ids = ids.map(\.id.description)
        if let since {
            let start = since.time(.now)
            for status in [NotificationStatus.failed, .partial] {
                ids += try await list(status, since: start, client, authorization)
            }
        }
        var failures: [CommandFailure] = []
        for id in ids {
            let path = "/api/notifications/\(id.urlEncoded)/resend"
            let answer = try await client.send(.post, path, authorization: authorization)
            if answer.isSuccess {
                let resent = try client.decode(Answer.self, from: answer)
                let platforms = resent.Platforms.isEmpty ? "all platforms" : resent.Platforms.joined(separator: ",")
                try console.show(resent, "resent \(resent.Id.oneLine) to \(platforms.oneLine)")
                continue
            }
            var failure = ProblemDocument.failure(answer, from: client.service)
            // Nothing else will be answered either.
            if failure.code == .unreachable || answer.status == 401 { throw failure }
            failure.message = "\(id): \(failure.message)"
            failures.append(failure)
        }
        guard let first = failures.first else { return }
        for failure in failures.dropFirst() { console.report(failure) }
        throw first
    }

    /// The IDs of a status, newest first. IDs begin with their time, so that a page may begin before it.
    private func list(
        _ status: NotificationStatus, since: Timestamp, _ client: APIClient, _ authorization: String
    ) async throws -> [String] {
        var ids: [String] = []
        var before: String?
        while true {
            let next = before.map { "&Before=\($0.urlEncoded)" } ?? ""
            let path = "/api/notifications?Limit=200&Status=\(status.rawValue)\(next)"
            let answer = try await client.send(.get, path, authorization: authorization)
            guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
            let page = try client.decode(ListCommand.Page.self, from: answer)
            let recent = page.Notifications.filter { Timestamp(rfc3339: $0.CreatedAt).map { $0 >= since } ?? false }
            ids += recent.map(\.Id)
            // A page without any may have older ones behind it that the status filter left out, but no newer ones.
            let end = page.Next.flatMap { NotificationID($0) }
            guard let end, end.timestamp >= since, page.Next != before else { return ids }
            before = page.Next
        }
    }
}

/// A point in time on the command line: RFC 3339, or a duration ago.
struct SinceArgument: ExpressibleByArgument, Sendable, Equatable {
    private enum Value: Equatable { case time(Timestamp), ago(Duration) }

    private let value: Value

    init?(argument: String) {
        if let time = TimeArgument(argument: argument) {
            value = .time(time.time)
        } else if let ago = DurationArgument(argument: argument) {
            value = .ago(ago.duration)
        } else {
            return nil
        }
    }

    func time(_ now: Timestamp) -> Timestamp {
        switch value {
        case .time(let time): time
        case .ago(let duration): now - duration
        }
    }
}
