/// What a push service said about a handle that is no good: a record of the hub's feedback (`PnsFeedback`).
struct PushFeedback: Sendable {
    let time: WireTime
    /// The service's name of the outcome: `BadChannel`, `ExpiredChannel`, `WrongToken`, ….
    let error: String
    let platform: NotificationFormat
    let handle: String
    var registrationID: String?
    var installationID: String?
    let messageID: String

    /// The outcomes that speak of the handle, not of the send.
    static let outcomes: Set<String> = ["BadChannel", "ExpiredChannel", "WrongToken", "ChannelDisconnected"]

    /// The record, with elements in the order of the .NET client's contract.
    var document: String {
        var output = "<PnsFeedback xmlns=\"\(XMLNamespace.connect)\">"
        let members: [(String, String?)] = [
            ("FeedbackTime", time.rfc3339), ("NotificationSystemError", error), ("Platform", platform.rawValue),
            ("PnsHandle", handle), ("RegistrationId", registrationID), ("InstallationId", installationID),
            ("NotificationId", messageID),
        ]
        for (name, value) in members {
            if let value { output += "<\(name)>\(XMLWriter.escape(value))</\(name)>" }
        }
        return output + "</PnsFeedback>"
    }
}

/// Where feedback comes from: the log of what crossed the hub.
protocol PushFeedbackSource: Sendable {
    /// The feedback of what is still in the log, oldest first.
    ///
    /// - Parameter hubKey: the hub's name in lower case.
    func feedback(hubKey: String) -> [PushFeedback]
}
