import SecurePushCore
import ServiceRuntime

extension NotificationQuery {
    /// How many notifications a page holds.
    enum PageLimit {
        static let allowed = 1...200
        static let standard = 50
    }

    /// Reads the query of `GET /api/notifications`.
    ///
    /// - Throws: 422 that names every parameter that is unknown, repeated or not as it must be.
    init(query: String?, sender: String) throws(Problem) {
        var parameters = QueryParameters(query, known: ["Recipient", "Status", "Before", "Limit"])
        let recipient = parameters.take(
            "Recipient", "A recipient is 1 to 1,024 bytes of UTF-8 without control characters."
        ) { UserName($0) }
        let statuses = NotificationStatus.allCases.map(\.rawValue).joined(separator: ", ")
        let status = parameters.take("Status", "The value must be one of: \(statuses).") {
            NotificationStatus(rawValue: $0)
        }
        let before = parameters.take("Before", "The value must be the ID of a notification.") { NotificationID($0) }
        let limit = parameters.takeNumber("Limit", in: PageLimit.allowed)
        try parameters.check()
        self.init(
            sender: sender, recipient: recipient, status: status, before: before, limit: limit ?? PageLimit.standard)
    }
}
