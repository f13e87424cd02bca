import SecurePushCore

/// The body of `POST /api/notifications`.
///
/// Written as text, so that a JSON payload travels exactly as it was given, numbers too.
struct NotificationBody: Sendable, Equatable {
    var recipients: [String]
    /// One JSON value.
    var payloadJSON: String
    var presentation: Presentation?
    var title: String?
    var body: String?
    var platforms: [String] = []
    var expiresAt: Timestamp?
    var collapseKey: String?
    var priority: Priority?

    func json() throws -> String {
        var members: [(name: String, json: String)] = []
        if recipients.count == 1 {
            members.append(("Recipient", try JSONText.encode(recipients[0])))
        } else {
            members.append(("Recipients", try JSONText.encode(recipients)))
        }
        members.append(("Payload", payloadJSON))
        if let presentation { members.append(("Presentation", try JSONText.encode(presentation.rawValue))) }
        let alert = [("Title", title), ("Body", body)].compactMap { name, text in text.map { (name, $0) } }
        if !alert.isEmpty {
            members.append(("Alert", try JSONText.object(try alert.map { ($0.0, try JSONText.encode($0.1)) })))
        }
        if !platforms.isEmpty { members.append(("Platforms", try JSONText.encode(platforms))) }
        if let expiresAt { members.append(("ExpiresAt", try JSONText.encode(expiresAt.description))) }
        if let collapseKey { members.append(("CollapseKey", try JSONText.encode(collapseKey))) }
        if let priority { members.append(("Priority", try JSONText.encode(priority.rawValue))) }
        return try JSONText.object(members)
    }
}
