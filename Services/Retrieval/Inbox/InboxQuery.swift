import SecurePushCore
import ServiceRuntime

/// What of the inbox is asked for: `Unread`, `After` and `Limit`.
struct InboxQuery: Sendable, Equatable {
    var unreadOnly = false
    var after: NotificationID?
    var limit = 50

    /// - Throws: ``Problem`` 422, naming every offending parameter.
    init(query: String?) throws(Problem) {
        var parameters = QueryParameters(query, known: ["Unread", "After", "Limit"])
        let unreadOnly = parameters.take("Unread", "The value must be true or false.") { Bool($0.lowercased()) }
        after = parameters.take("After", "The value must be the ID of a notification.") { NotificationID($0) }
        let limit = parameters.takeNumber("Limit", in: 1...200)
        try parameters.check()
        self.unreadOnly = unreadOnly ?? false
        self.limit = limit ?? 50
    }
}
