/// An event of a simulated device: a line for people, an object for programs.
struct DeviceEvent: Encodable, Sendable, Equatable {
    enum Name: String, Encodable, Sendable {
        case registered
        /// The fingerprint of the device's key for end-to-end encryption.
        case key
        case listening
        case received
        case shows
        /// A text disappeared: it was withdrawn, or the log-in made the prompt superfluous.
        case removed
        /// The device has answered, or tried to.
        case answered
        case loggedIn
        case ignored
        case disconnected
        /// The server cannot serve a request now; the device tries again.
        case waiting
    }

    enum TextKind: String, Sendable {
        case payload
        case prompt
        case generic
    }

    var event: Name
    /// The device's user, if there are several.
    var user: String?
    var platform = ""
    var id: String?
    /// The title of a message.
    var title: String?
    var text: String?
    /// Where a message leads.
    var link: String?
    /// The IDs of a message's actions.
    var actions: [String]?
    var kind: String?
    var reason: String?

    init(_ event: Name, id: String? = nil, text: String? = nil, kind: String? = nil, reason: String? = nil) {
        self.event = event
        self.id = id
        self.text = text
        self.kind = kind
        self.reason = reason
    }

    init(_ event: Name, id: String?, text: String? = nil, kind: TextKind, reason: String? = nil) {
        self.init(event, id: id, text: text, kind: kind.rawValue, reason: reason)
    }

    /// Columns, then the text: `apple    shows       Your results are in.`
    var line: String {
        let words =
            switch event {
            case .received: "\(id ?? "")  (\(kind ?? "push"))"
            case .shows:
                (title.map { "\($0.printable): " } ?? "") + (text ?? "").printable
                    + (link.map { "  <\($0.printable)>" } ?? "")
                    + (actions.map { "  [\($0.joined(separator: " "))]" } ?? "")
                    + (reason.map { "  (\($0.printable))" } ?? "")
            case .answered: (text ?? "").printable + (reason.map { "  (\($0.printable))" } ?? "")
            case .removed: (id ?? "") + (kind.map { "  (\($0))" } ?? "")
            case .ignored: [id, reason?.printable].compactMap { $0 }.joined(separator: "  ")
            case .registered, .key, .listening, .loggedIn, .disconnected, .waiting: (text ?? reason ?? "").printable
            }
        let name = event == .loggedIn ? "logged in" : event.rawValue
        return (user.map { $0.printable.padded(to: 15) } ?? "") + platform.padded(to: 9) + name.padded(to: 12) + words
    }

    /// Whether the line goes to standard output. The other events go to standard error, except with `--json`.
    var isData: Bool { [.received, .shows, .removed, .answered].contains(event) }
}
