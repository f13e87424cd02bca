import ArgumentParser
import Domain

struct RevokeCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke notifications: destroy their payloads and cancel pushes that are not sent yet.",
        discussion: """
            A device that already got the push finds no payload any more (410). Revoking twice changes nothing. The \
            command tries every ID, even if one fails. Exit codes: 0 all revoked, 1 some not revoked, 69 no answer.

            EXAMPLES
              securepush revoke 01890a5d-ac96-774b-bcce-b302099a8057
              xargs securepush revoke < ids.txt
            """)

    @Argument(help: "The IDs of the notifications, such as \(IDArgument.example).")
    var ids: [IDArgument]

    @OptionGroup var sender: SenderOptions

    private struct Row: Encodable {
        var id: String
        var status = "revoked"
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        try await console.forEach(ids.map(\.id.description), of: client) { id in
            try await client.send(.delete, "/api/notifications/\(id)")
        } accepted: { id, _ in
            try console.show(Row(id: id), "revoked \(id)")
        }
    }
}

extension Console {
    /// Sends one request per notification and goes on after a refusal.
    ///
    /// - Throws: the first refusal, after all requests; at once if the service does not answer or refuses the API key.
    func forEach(
        _ ids: [String], of client: APIClient, _ request: (String) async throws -> APIResponse,
        accepted: (String, APIResponse) throws -> Void
    ) async throws {
        var failures: [CommandFailure] = []
        do {
            for id in ids {
                let response = try await request(id)
                if response.isSuccess {
                    try accepted(id, response)
                    continue
                }
                var failure = ProblemDocument.failure(response, from: client.service)
                if failure.code == .unreachable || response.status == 401 { throw failure }
                failure.message = "\(id): \(failure.message)"
                failures.append(failure)
            }
        } catch {
            // The refusals before it must not be lost.
            for failure in failures { report(failure) }
            throw error
        }
        guard let first = failures.first else { return }
        for failure in failures.dropFirst() { report(failure) }
        throw first
    }
}
