import Domain

/// The parts that matter here of the hub's `NotificationDetails` (Azure: "Get notification message telemetry").
///
/// The document repeats the body of the push. Nothing of it is kept: the state stands before the body, and the counts
/// stand after it.
struct NotificationDetails: Equatable {
    /// The hub's word for the state of the message, such as `Processing`.
    let state: String
    /// The number of devices by the hub's word for the result.
    let devices: [String: Int]

    /// Distinct words that are kept.
    private static let maxNames = 32
    /// Results that are read; a message goes to one platform, which has some twenty words.
    private static let maxResults = 1000

    /// - Returns: `nil` if the document has no state that can be read.
    init?(_ xml: String) {
        let body = "NotificationBody"
        let head = xml.firstRange(of: "<" + body).map { xml[..<$0.lowerBound] } ?? xml[...]
        let tail = xml.ranges(of: "</\(body)>").last.map { xml[$0.upperBound...] } ?? xml[...]
        guard let state = head.text(ofElement: "State"), MessageOutcome.isName(state) else { return nil }
        self.state = state
        var devices: [String: Int] = [:]
        for result in tail.elements("Outcome").prefix(Self.maxResults) {
            guard let name = result.text(ofElement: "Name"), MessageOutcome.isName(name),
                let text = result.text(ofElement: "Count"), let count = Int(text), count > 0,
                devices[name] != nil || devices.count < Self.maxNames
            else { continue }
            // Both are at most 31 bits long, so the sum cannot overflow.
            devices[name] = min(devices[name, default: 0] + min(count, Self.maxCount), Self.maxCount)
        }
        self.devices = devices
    }

    private static let maxCount = Int(Int32.max)

    /// The states after which nothing changes any more.
    private static let finalStates: Set<String> = [
        "Completed", "NoTargetFound", "Abandoned", "Cancelled", "Canceled",
    ]

    /// The outcome; `nil` while the hub still works on the message.
    var outcome: MessageOutcome? {
        guard Self.finalStates.contains(state) else { return nil }
        return MessageOutcome(devices) ?? MessageOutcome(state: state)
    }
}
