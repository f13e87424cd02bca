import ArgumentParser
import Foundation

/// Prints the emulator's record as text. The demo uses it.
struct HubRecordCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub-record", abstract: "Print the messages that passed through the hub emulator.",
        shouldDisplay: false)

    @OptionGroup var emulator: EmulatorOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        let response = try await emulator.client().request(.get, "/emulator/messages")
        if console.isJSON { return try console.line(response.body.droppingLineEnd) }
        for message in try HubRecord.messages(response.body) { try console.line(message.text) }
    }
}

/// A message in the emulator's record, `GET /emulator/messages`.
struct HubRecord: Decodable, Sendable {
    var kind: String
    var platform: String?
    var tags: String?
    var headers: [String: String]
    var body: String

    private struct Page: Decodable {
        var messages: [HubRecord]
    }

    /// The sends, oldest first.
    static func messages(_ body: String) throws -> [HubRecord] {
        let all =
            if let page = try? JSONCoding.decode(Page.self, from: body) { page.messages } else {
                try JSONCoding.decode([HubRecord].self, from: body)
            }
        return all.filter { $0.kind == "send" }
    }

    /// Prefixes of the headers that matter to the device's push service.
    private static let shown = ["apns-", "x-wns-", "servicebusnotification-format", "content-type"]

    /// Platform and tag, headers, and body on a line each.
    var text: String {
        let headers = self.headers.filter { name, _ in
            HubRecord.shown.contains { name.lowercased().hasPrefix($0) }
        }
        var lines = [(platform ?? "?").padded(to: 9) + "tag      " + (tags ?? "").printable]
        for (name, value) in headers.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
            lines.append("         header   \(name.printable): \(value.printable)")
        }
        lines.append("         body     \(body.printable)")
        return lines.joined(separator: "\n")
    }
}
