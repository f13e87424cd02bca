import SecurePushCore

/// The request bodies of a load test; all but the recipient is prepared once.
struct LoadMessage: Sendable {
    let plan: LoadPlan
    /// What every notification carries, as its readers get it.
    let payload: String
    private let prefix: [UInt8]
    private let suffix: [UInt8]
    /// The one recipient as JSON.
    private let recipient: [UInt8]?

    /// - Parameter run: tells this test's payloads from those of another, as far as the payload has room for it.
    init(_ plan: LoadPlan, run: String = String(UInt64.random(in: .min ... .max), radix: 36)) throws {
        self.plan = plan
        let mark = "load-test \(run) "
        payload = String((mark + String(repeating: "x", count: plan.payloadSize)).prefix(plan.payloadSize))
        prefix = Array(#"{"Recipient":"#.utf8)
        var members = #","Payload":"# + (try JSONText.encode(payload))
        if !plan.platforms.isEmpty { members += #","Platforms":"# + (try JSONText.encode(plan.platforms)) }
        suffix = Array((members + "}").utf8)
        recipient = try plan.recipient.map { Array(try JSONText.encode($0).utf8) }
    }

    /// The JSON of one notification, or of one a line.
    func body(_ notifications: Range<Int>, inLines: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(notifications.count * (prefix.count + suffix.count + (recipient?.count ?? 16) + 1))
        for notification in notifications {
            bytes += prefix
            if let recipient {
                bytes += recipient
            } else {
                bytes += "\"\(plan.name(ofRecipient: plan.recipientIndex(of: notification)))\"".utf8
            }
            bytes += suffix
            if inLines { bytes.append(UInt8(ascii: "\n")) }
        }
        return bytes
    }
}
