/// What the server is to be told of a notification: that this device shows it, and how.
struct ShownReport: Codable, Sendable, Equatable {
    enum Text: String, Codable, Sendable {
        case secret, generic
    }

    let id: PushID
    let text: Text
    /// The code of the generic text, such as `SP-404`; `nil` if nothing is wrong.
    let code: String?

    init(_ id: PushID, _ text: Text = .secret, code: DiagnosticCode? = nil) {
        self.id = id
        self.text = text
        self.code = code?.rawValue
    }

    /// Reads a report, or the ID alone that earlier versions stored.
    init(from decoder: any Decoder) throws {
        if let id = try? decoder.singleValueContainer().decode(PushID.self) {
            self.init(id)
            return
        }
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(PushID.self, forKey: .id), try members.decode(Text.self, forKey: .text),
            code: try members.decodeIfPresent(String.self, forKey: .code).map { DiagnosticCode(rawValue: $0) })
    }

    private enum CodingKeys: String, CodingKey { case id, text, code }
}
