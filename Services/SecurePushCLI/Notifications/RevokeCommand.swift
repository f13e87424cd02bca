import ArgumentParser
import SecurePushCore

struct RevokeCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take notifications back: their payloads are destroyed, and what was not sent is not sent.",
        discussion: """
            A device that was woken already finds nothing any more (410). Revoking again changes nothing. Each ID is
            tried, whatever becomes of the others. Exit codes: 0 all are revoked, 1 some are not, 69 no answer.

            EXAMPLES
              securepush revoke 01890a5d-ac96-774b-bcce-b302099a8057
              xargs securepush revoke < ids.txt
            """)

    @Argument(help: "The notifications' IDs.")
    var ids: [IDArgument]

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Answer: Encodable {
        var Id: String
        var Status: String
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.credentials().authorization
        var failures: [CommandFailure] = []
        for id in ids.map(\.id) {
            let answer = try await client.send(.delete, "/api/notifications/\(id)", authorization: authorization)
            if answer.isSuccess {
                try console.show(Answer(Id: id.description, Status: "revoked"), "revoked \(id)")
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
}
