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
