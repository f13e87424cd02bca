import SecurePushCore

/// What a simulated device tells: a line for people, an object for programs.
struct DeviceEvent: Encodable, Sendable, Equatable {
    enum Name: String, Encodable, Sendable {
        case registered
        case listening
        case received
        case shows
        case ignored
        case disconnected
    }

    var event: Name
    var platform: String
    var id: String?
    var text: String?
    var kind: String?
    var reason: String?

    private enum CodingKeys: String, CodingKey {
        case event = "Event"
        case platform = "Platform"
        case id = "Id"
        case text = "Text"
        case kind = "Kind"
        case reason = "Reason"
    }

    /// Two columns, then the words: `apple    shows       Your results are in.`
    var line: String {
        let words =
            switch event {
            case .received: "\(id ?? "")  (\(kind ?? "push"))"
            case .shows: (text ?? "").printable + (reason.map { "  (\($0.printable))" } ?? "")
            case .ignored: [id, reason?.printable].compactMap { $0 }.joined(separator: "  ")
            case .registered, .listening, .disconnected: (text ?? reason ?? "").printable
            }
        return platform.padded(to: 9) + event.rawValue.padded(to: 12) + words
    }

    /// What is shown and received is data; the rest is said on standard error, unless a program reads along.
    var isData: Bool { event == .received || event == .shows }
}

extension String {
    /// The text with blanks after it up to a width, and at least one.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
