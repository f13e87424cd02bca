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
