import ArgumentParser
import SecurePushCore

struct StatusCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what became of a notification, platform by platform.",
        discussion: """
            Asks the ingest service with the API key of the notification's sender: another sender's is not there. With
            --json the service's own answer. Exit codes: 0 shown, 1 not there, 69 no answer.

            EXAMPLES
              securepush status 01890a5d-ac96-774b-bcce-b302099a8057
              securepush status --json 01890a5d-ac96-774b-bcce-b302099a8057
            """)

    @Argument(help: "The notification's ID.")
    var id: IDArgument

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Answer: Decodable, Equatable {
        var Id: String
        var Status: String
        var CreatedAt: String
        var ReadAt: String?
        var Deliveries: [DeliveryRow]
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let answer = try await client.send(
            .get, "/api/notifications/\(id.id)/status", authorization: try ingest.credentials().authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
        if console.isJSON { return console.line(answer.body.droppingLineEnd) }
        for line in StatusCommand.lines(try client.decode(Answer.self, from: answer), console.styled) {
            console.line(line)
        }
    }

    /// What is known of the whole, then a table of the platforms.
    static func lines(_ answer: Answer, _ styled: (String, Style) -> String) -> [String] {
        var facts = TextTable(isOfWords: true)
        facts.add(["ID", answer.Id.oneLine])
        facts.add(["Status", StatusStyle.styled(answer.Status.oneLine, answer.Status, styled)])
        facts.add(["Created", answer.CreatedAt.oneLine])
        if let readAt = answer.ReadAt { facts.add(["Read", readAt.oneLine]) }
        let deliveries = DeliveryRow.table(answer.Deliveries)
        return facts.lines + (deliveries.isEmpty ? [] : [""] + deliveries)
    }
}

/// How statuses look on a terminal.
enum StatusStyle {
    static func styled(_ text: String, _ status: String, _ styled: (String, Style) -> String) -> String {
        let style: Style? =
            switch status {
            case "read", "dispatched": .green
            case "failed", "partial": .red
            case "expired", "revoked": .yellow
            default: nil
            }
        return style.map { styled(text, $0) } ?? text
    }
}

extension APIClient {
    /// The answer as the form that it must have.
    func decode<Value: Decodable>(_ type: Value.Type, from answer: APIAnswer) throws -> Value {
        guard let value = try? JSONText.decode(type, from: answer.body) else {
            throw CommandFailure(.failed, "\(service)'s answer is not in the form that was asked for")
        }
        return value
    }
}

/// One platform's delivery, as the status route tells it and as the store has it.
struct DeliveryRow: Codable, Sendable, Equatable {
    var Platform: String
    var State: String
    var Attempts: Int
    var HubMessageId: String?
    var Error: String?
    var UpdatedAt: String

    init(_ delivery: Delivery) {
        Platform = delivery.platform.rawValue
        State = delivery.state.rawValue
        Attempts = delivery.attempts
        HubMessageId = delivery.hubMessageID
        Error = delivery.error
        UpdatedAt = delivery.updatedAt.description
    }

    /// A table with a head; nothing for no deliveries.
    static func table(_ rows: [DeliveryRow]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["PLATFORM", "STATE", "ATTEMPTS", "UPDATED", "HUB MESSAGE", "REASON"])
        for row in rows {
            table.add([
                row.Platform.oneLine, row.State.oneLine, "\(row.Attempts)", row.UpdatedAt.oneLine,
                row.HubMessageId?.oneLine ?? "-", row.Error?.oneLine ?? "-",
            ])
        }
        return table.lines
    }
}

extension String {
    /// ``printable``, on one line: a cell of a table.
    var oneLine: String {
        String(String.UnicodeScalarView(printable.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? " " : $0 }))
    }
}
