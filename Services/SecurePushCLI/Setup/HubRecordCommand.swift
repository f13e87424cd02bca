import ArgumentParser
import Foundation

/// What crossed the hub, told for people: the demo's view of the emulator's record.
struct HubRecordCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub-record", abstract: "Print what crossed the hub emulator.", shouldDisplay: false)

    @Option(help: ArgumentHelp("The hub emulator (HUB_EMULATOR_URL; http://127.0.0.1:8090).", valueName: "url"))
    var emulatorURL: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        let environment = ProcessInfo.processInfo.environment
        let client = try APIClient(
            service: "hub-emulator", url: emulatorURL ?? environment["HUB_EMULATOR_URL"] ?? "http://127.0.0.1:8090")
        let answer = try await client.send(.get, "/emulator/messages")
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
        if console.isJSON { return console.line(answer.body.droppingLineEnd) }
        for message in try HubRecord.messages(answer.body) { console.line(message.text) }
    }
}

/// One message of the emulator's record, `GET /emulator/messages`.
struct HubRecord: Decodable, Sendable {
    var Kind: String
    var Platform: String?
    var Tags: String?
    var Headers: [String: String]
    var Body: String

    private struct Page: Decodable { var Messages: [HubRecord] }

    /// The sends, in the order in which they crossed the hub.
    static func messages(_ body: String) throws -> [HubRecord] {
        let all =
            if let page = try? JSONText.decode(Page.self, from: body) { page.Messages } else {
                try JSONText.decode([HubRecord].self, from: body)
            }
        return all.filter { $0.Kind == "send" }
    }

    /// The headers that reach the device's push service, and those that say what it is.
    private static let shown = ["apns-", "x-wns-", "servicebusnotification-format", "content-type"]

    /// Several lines: platform and tag, headers, body.
    var text: String {
        let headers = Headers.filter { name, _ in
            HubRecord.shown.contains { name.lowercased().hasPrefix($0) }
        }
        var lines = [(Platform ?? "?").padded(to: 9) + "tag      " + (Tags ?? "").printable]
        for (name, value) in headers.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
            lines.append("         header   \(name.printable): \(value.printable)")
        }
        lines.append("         body     \(Body.printable)")
        return lines.joined(separator: "\n")
    }
}
