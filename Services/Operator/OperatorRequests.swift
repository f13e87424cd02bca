import Domain
import Foundations

/// Which dead letters are replayed: `{"Ids":[…]}`, `{"All":true}` or `{"All":true,"Reason":"…"}`.
struct ReplaySelection {
    let ids: Set<NotificationID>?
    let reason: String?

    init(_ json: inout JSONObjectReader) {
        let hasIDs = json.contains("Ids")
        let list = JSONRule.list(of: .notificationID, 1...OperatorController.maxIDs) { _ in
            "The list must have 1 to \(OperatorController.maxIDs) IDs."
        }
        ids = json.optional("Ids", list).map { Set($0) }
        let all = json.optional("All", .boolean) ?? false
        reason = json.optional("Reason", .text)
        if !hasIDs, !all { json.note("Give either Ids, or All as true.", at: "Ids") }
        if hasIDs, all || reason != nil { json.note("Ids cannot be combined with All or Reason.", at: "Ids") }
    }
}

/// Which failures are sent again: `{"Reason":"…","Window":"1h","Before":"ID"}`, as a group of `GET /admin/api/failures`
/// names them. `Before` is `Next` of the request before.
struct FailureSelection {
    let reason: String
    let window: TimeWindow
    let before: NotificationID?

    init(_ json: inout JSONObjectReader) {
        // A text that a group can have; it is logged.
        let text = JSONRule<String>.string("The text must have at most \(FailureReason.maxLength) characters.") {
            text in
            text.count <= FailureReason.maxLength ? text : nil
        }
        reason = json.required("Reason", text) ?? ""
        window = json.optional("Window", .choice) ?? .hour
        before = json.optional("Before", .notificationID)
    }
}

/// Whose notifications are listed: `{"Recipient":"alice","Before":"ID"}`. The name is in the body because URLs are
/// logged.
struct RecipientSelection {
    let recipient: UserName
    let before: NotificationID?

    init?(_ json: inout JSONObjectReader) {
        let recipient = json.required("Recipient", .userName)
        before = json.optional("Before", .notificationID)
        guard let recipient else { return nil }
        self.recipient = recipient
    }
}
