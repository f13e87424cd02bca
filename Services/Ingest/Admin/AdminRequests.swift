import SecurePushCore

/// Which dead letters are replayed: `{"Ids":[…]}`, `{"All":true}` or `{"All":true,"Reason":"…"}`.
struct ReplaySelection {
    var ids: Set<NotificationID>?
    var reason: String?

    /// Notes in the reader what is wrong.
    init(_ reader: inout JSONObjectReader) {
        var all = false
        for member in reader.members(of: reader.root, known: ["Ids", "All", "Reason"]) {
            switch member.name {
            case "Ids":
                let spans = reader.elements(of: member.value, at: member.pointer)
                if !(1...AdminController.maxIDs).contains(spans.count) {
                    reader.note(member.pointer, "The list must have 1 to \(AdminController.maxIDs) IDs.")
                    ids = []
                    continue
                }
                ids = Set(
                    spans.enumerated().compactMap { reader.notificationID($1, at: "\(member.pointer)/\($0)") })
            case "All": all = reader.boolean(member.value, at: member.pointer) ?? false
            default: reason = reader.string(member.value, at: member.pointer)
            }
        }
        if ids == nil, !all { reader.note("/Ids", "Give either Ids, or All as true.") }
        if ids != nil, all || reason != nil { reader.note("/Ids", "Ids cannot be combined with All or Reason.") }
    }
}

/// Which failures are sent again: `{"Platform":"apple","Reason":"…","Window":"1h","Before":"ID"}`, as a group of
/// `GET /admin/api/failures` names them. `Before` is `Next` of the request before.
struct FailureSelection {
    var key = FailureKey(platform: "", reason: "")
    var window = AdminWindow.hour
    var before: NotificationID?

    /// Notes in the reader what is wrong.
    init(_ reader: inout JSONObjectReader) {
        let known = ["Platform", "Reason", "Window", "Before"]
        for member in reader.members(of: reader.root, known: known, required: ["Platform", "Reason"]) {
            switch member.name {
            case "Platform": key.platform = Self.text(member.value, at: member.pointer, &reader)
            case "Reason": key.reason = Self.text(member.value, at: member.pointer, &reader)
            case "Before": before = reader.notificationID(member.value, at: member.pointer)
            default: window = reader.choice(member.value, at: member.pointer) ?? .hour
            }
        }
    }

    /// A text that a group can have; it is logged.
    private static func text(_ value: JSONSpan, at pointer: String, _ reader: inout JSONObjectReader) -> String {
        let text = reader.string(value, at: pointer) ?? ""
        if text.count > FailureKey.maxReason {
            reader.note(pointer, "The text must have at most \(FailureKey.maxReason) characters.")
        }
        return text
    }
}

/// Whose notifications are listed: `{"Recipient":"alice","Before":"ID"}`. The name is in the body because URLs are
/// logged.
struct RecipientSelection {
    /// `nil` only if the reader has an issue.
    var recipient: UserName?
    var before: NotificationID?

    /// Notes in the reader what is wrong.
    init(_ reader: inout JSONObjectReader) {
        for member in reader.members(of: reader.root, known: ["Recipient", "Before"], required: ["Recipient"]) {
            if member.name == "Before" {
                before = reader.notificationID(member.value, at: member.pointer)
            } else if let text = reader.string(member.value, at: member.pointer) {
                recipient = UserName(text)
                if recipient == nil {
                    reader.note(
                        member.pointer, "A recipient is 1 to 1,024 bytes of UTF-8 without control characters.")
                }
            }
        }
    }
}

extension JSONObjectReader {
    /// The ID of a notification; `nil`, and an issue, for another value.
    fileprivate mutating func notificationID(_ span: JSONSpan, at pointer: String) -> NotificationID? {
        guard let text = string(span, at: pointer) else { return nil }
        let id = NotificationID(text)
        if id == nil { note(pointer, "The value must be the ID of a notification.") }
        return id
    }
}
