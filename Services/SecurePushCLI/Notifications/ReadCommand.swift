import ArgumentParser
import Domain
import Foundation
import SecurePushClient

struct ReadCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Fetch a notification as its user, print the payload, and mark it as read.",
        discussion: """
            Prints the payload exactly: the text of a string, and other values as JSON as they were sent. Nothing is \
            added, except a line end on a terminal. Messages go to standard error. --json prints the service's own \
            response. With a password --user is needed; a token names its user. Exit codes: 0 printed, 1 refused \
            (401), not found (404) or gone (410), 69 no answer.

            EXAMPLES
              securepush read 01890a5d-ac96-774b-bcce-b302099a8057 --token-file alice.token
              securepush read 01890a5d-ac96-774b-bcce-b302099a8057 --user alice \\
                  --password-file alice.password
              RETRIEVAL_TOKEN=... securepush read 01890a5d-ac96-774b-bcce-b302099a8057 \\
                  > letter.pdf.base64
            """)

    @Argument(help: "The ID of the notification, such as \(IDArgument.example).")
    var id: IDArgument

    @Option(help: ArgumentHelp("The user (default: the user of the token).", valueName: "name"))
    var user: String?

    @OptionGroup var credentials: UserCredentialOptions
    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let user { try UserName.validate(user, of: "--user", as: "user") }
        if user == nil && credentials.passwordFile != nil { throw ValidationError("--password-file needs --user.") }
    }

    func run(on console: Console) async throws {
        let client = try retrieval.client(try authorization())
        // The request marks as read, which cannot be taken back.
        try StandardOutput.requireRoom(for: Self.roomForPayload)
        let response = try await client.send(.get, "/api/notifications/\(id.id)")
        guard response.isSuccess else { throw Self.failure(response, from: client.service) }
        if console.isJSON { return try console.line(response.body.droppingLineEnd) }
        guard let payload = JSONCoding.member("Payload", of: response.body) else {
            throw CommandFailure(
                .failed, "The response of \(client.service) has no payload.",
                hint: "Do \(client.service) and this program have the same version?")
        }
        if isatty(STDOUT_FILENO) == 1 {
            // A payload must not control the terminal.
            try console.line(payload.printable.droppingLineEnd)
        } else {
            try console.write(Data(payload.utf8))
        }
        // In a terminal it must not look like another line of the payload.
        if JSONCoding.member("Read", of: response.body) == "true" {
            console.message("note: this notification had been read before.")
        }
    }

    /// The largest payload in a response, with its escapes.
    static let roomForPayload = 1 << 20

    private func authorization() throws -> String {
        if let user { return try credentials.credentials(of: user).authorization }
        guard let token = try credentials.token() else {
            throw CommandFailure(
                .configuration, "There are no credentials.",
                hint: "Give a file with --token-file, or --user and --password-file, or set RETRIEVAL_TOKEN.")
        }
        return ClientCredentials.bearer(token.text).authorization
    }

    /// The service says no more than the user may know; these are the cases that a person can tell apart.
    private static func failure(_ response: APIResponse, from service: String) -> CommandFailure {
        var failure = ProblemDocument.failure(response, from: service)
        switch response.status {
        case 404: failure.hint = "The ID is unknown, or it is another user's, or its NotBefore has not come yet."
        case 410: failure.hint = "It has expired, was revoked, or could be read once only."
        default: break
        }
        return failure
    }
}
